// The library's source files, as text.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tend::test {

inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; list >> word;) words.push_back(word);
  return words;
}

/// The floors of the library, from the ground up, as CMakeLists.txt lists them.
inline const std::vector<std::string> kFloors = words_of(TEND_FLOORS);

struct Source {
  std::string path;  // "core/array/array.h"
  std::vector<std::string> lines;
};

/// All headers and sources of a floor.
inline std::vector<Source> sources_of(const std::string& floor) {
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

}  // namespace tend::test
