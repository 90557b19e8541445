// A file's name leads to its test.
#include <filesystem>

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
