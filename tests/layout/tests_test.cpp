// A file's name leads to its test.
#include <filesystem>
#include <regex>

#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

TEST_CASE("a test in the folder of a source has the name of what it tests") {
  namespace fs = std::filesystem;
  const fs::path root(TEND_SOURCE);
  std::size_t tests = 0;
  for (const std::string& floor : kFloors) {
    for (const auto& entry : fs::recursive_directory_iterator(root / "tests" / floor)) {
      const std::string name = entry.path().filename().string();
      const std::string end = "_test.cpp";
      const fs::path folder = fs::relative(entry.path().parent_path(), root / "tests");
      // Beside the folders stand tests of what several files do together.
      if (!name.ends_with(end) || folder == floor) continue;
      const std::string tested = name.substr(0, name.size() - end.size());
      INFO(entry.path());
      CHECK((fs::exists(root / folder / (tested + ".h")) ||
             fs::exists(root / folder / (tested + ".cpp"))));
      ++tests;
    }
  }
  CHECK(tests > 40);  // the test has looked at something
}

// ctest would not run such a test: it would run two that are none.
TEST_CASE("no test has a semicolon in its name, which cuts the lists of CMake") {
  const std::regex name("TEST_CASE\\(\\s*\"([^\"]*)\"");
  std::size_t names = 0;
  for (const Source& source : sources_of("tests")) {
    std::string text;
    for (const std::string& line : source.lines) text += line + '\n';
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at, ++names) {
      INFO(source.path << ": " << (*at)[1]);
      CHECK((*at)[1].str().find(';') == std::string::npos);
    }
  }
  CHECK(names > 1000);  // the test has looked at something
}
