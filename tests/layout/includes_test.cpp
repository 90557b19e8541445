// Who includes whom.
#include <algorithm>
#include <fstream>

#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

namespace {

// The folders of CONTRIBUTING.md's table, each after those that it may include.
std::vector<std::string> folders_in_order() {
  std::ifstream page(std::string(TEND_SOURCE) + "/CONTRIBUTING.md");
  std::vector<std::string> folders;
  for (std::string line; std::getline(page, line);) {
    const std::size_t end = line.find("` |");
    if (line.starts_with("| `") && end != std::string::npos) {
      const std::string folder = line.substr(3, end - 3);
      const std::string floor = folder.substr(0, folder.find('/'));
      if (std::find(kFloors.begin(), kFloors.end(), floor) != kFloors.end()) {
        folders.push_back(folder);
      }
    }
  }
  return folders;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// "autograd/tensor" of `#include <tend/autograd/tensor/tensor.h>`; empty for other lines.
std::string folder_included(const std::string& line) {
  const std::string start = "#include <tend/";
  if (!line.starts_with(start)) return {};
  return folder_of(line.substr(start.size()));
}

}  // namespace

TEST_CASE("a folder includes its own headers and those of the folders before it") {
  const std::vector<std::string> folders = folders_in_order();
  REQUIRE(folders.size() > 20);
  std::size_t includes = 0;
  const auto place = [&](const std::string& folder) {
    return std::find(folders.begin(), folders.end(), folder) - folders.begin();
  };
  for (const std::string& floor : kFloors) {
    for (const Source& source : sources_of(floor)) {
      const auto own = place(folder_of(source.path));
      INFO(source.path);
      REQUIRE(own < std::ssize(folders));  // the table has a line for every folder
      for (const std::string& line : source.lines) {
        const std::string folder = folder_included(line);
        if (folder.empty()) continue;
        ++includes;
        INFO(line);
        // The methods of Tensor call operations, whose headers only declare them.
        const bool is_method = source.path.ends_with("_methods.h") && folder == "autograd/ops";
        CHECK((place(folder) <= own || is_method));
      }
    }
  }
  CHECK(includes > 500);  // the test has looked at something
}
