// Tests which folders include which.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; list >> word;) words.push_back(word);
  return words;
}

// The floors of the library, from the lowest to the highest, as CMakeLists.txt lists them.
const std::vector<std::string> kFloors = words_of(TEND_FLOORS);

struct Source {
  std::string path;  // "core/array/array.h"
  std::vector<std::string> lines;
};

// All headers and sources of a floor.
std::vector<Source> sources_of(const std::string& floor) {
  namespace fs = std::filesystem;
  const fs::path root(TEND_SOURCE);
  std::vector<Source> sources;
  for (const auto& entry : fs::recursive_directory_iterator(root / floor)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp") continue;
    Source& source = sources.emplace_back();
    source.path = fs::relative(entry.path(), root).generic_string();
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) source.lines.push_back(line);
  }
  return sources;
}

// The folders of CONTRIBUTING.md's table, in its order. A folder may include only itself and the
// folders before it.
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
        // The methods of Tensor call operations and the engine. Their headers need the declarations
        // of operations, and their sources may include everything.
        const bool is_method =
            (source.path.ends_with("_methods.h") && folder == "autograd/ops") ||
            (source.path.starts_with("autograd/tensor/") && source.path.ends_with(".cpp"));
        CHECK((place(folder) <= own || is_method));
      }
    }
  }
  CHECK(includes > 500);  // the loop has checked something
}
