// docs/inside.md promises a day's reading.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "tests/catch.h"

TEST_CASE("the files to read first are there, and fit into a day") {
  const std::string root = TEND_SOURCE;
  std::ifstream page(root + "/docs/inside.md");
  REQUIRE(page.good());
  std::size_t files = 0, lines = 0;
  for (std::string line; std::getline(page, line);) {
    const std::size_t end = line.find(" |", 2);
    if (!line.starts_with("| ") || line.find('/') > end) continue;  // no row with a file
    const std::string name = line.substr(2, end - 2);
    INFO(name);
    std::ifstream file(std::filesystem::path(root) / name);
    CHECK(file.good());
    ++files;
    for (std::string text; std::getline(file, text);) {
      // Nobody needs to read the two pragmas of an exported header, each with an empty line.
      text.starts_with("#pragma GCC visibility") ? --lines : ++lines;
    }
  }
  CAPTURE(files, lines);
  CHECK(files >= 25);
  CHECK(files <= 35);
  CHECK(lines <= 5000);
}

TEST_CASE("every file that the guide speaks of is there") {
  const std::string root = TEND_SOURCE;
  std::ifstream page(root + "/docs/inside.md");
  const std::regex file("(core|autograd|nn|attention)/[a-z_/]+\\.(h|cpp)");
  std::size_t files = 0;
  for (std::string line; std::getline(page, line);) {
    for (std::sregex_iterator at(line.begin(), line.end(), file), end; at != end; ++at) {
      INFO(at->str());
      CHECK(std::filesystem::exists(root + "/" + at->str()));
      ++files;
    }
  }
  CHECK(files >= 30);
}
