// check_site FOLDER: follows the links of the site that the CMake target `docs` makes, and prints
// the broken ones.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Html {
  std::set<std::string> anchors, targets;
};

Html read_html(const fs::path& path) {
  static const std::regex attribute(R"re((href|src|id|name)="([^"]*)")re");
  std::ifstream file(path);
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  Html html;
  for (std::sregex_iterator at(text.begin(), text.end(), attribute), end; at != end; ++at) {
    const bool leads = (*at)[1] == "href" || (*at)[1] == "src";
    (leads ? html.targets : html.anchors).insert((*at)[2]);
  }
  return html;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !fs::exists(fs::path(argv[1]) / "index.html")) {
    std::cerr << "usage: check_site FOLDER (a folder with an index.html)\n";
    return 2;
  }
  const fs::path root(argv[1]);
  std::map<std::string, Html> pages;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.path().extension() == ".html")
      pages.emplace(entry.path().filename().string(), read_html(entry.path()));
  }
  std::size_t links = 0, broken = 0;
  for (const auto& [name, page] : pages) {
    for (const std::string& target : page.targets) {
      if (target.find(':') != std::string::npos || target.empty()) continue;  // another site
      // Doxygen's hidden summaries link to private classes, which have no page.
      if (target == "#nested-classes") continue;
      ++links;
      const std::size_t hash = target.find('#');
      const std::string file = hash == 0 ? name : target.substr(0, hash);
      const auto found = pages.find(file);
      const bool is_there =
          found != pages.end()
              ? hash == std::string::npos || found->second.anchors.contains(target.substr(hash + 1))
              : fs::exists(root / file);
      if (is_there) continue;
      ++broken;
      std::cerr << name << ": the link " << target << " is broken\n";
    }
  }
  std::cout << pages.size() << " pages, " << links << " links, " << broken << " of them broken\n";
  return broken == 0 && links > 0 ? 0 : 1;
}
