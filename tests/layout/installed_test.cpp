// Which headers an installed tend has.
#include <fstream>

#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

TEST_CASE("what is installed is what users may name, and what that includes") {
  // A header that joins the list becomes part of what tend promises: include less instead, where
  // that can be.
  std::ifstream list(std::string(TEND_SOURCE) + "/tests/layout/installed_headers.txt");
  std::vector<std::string> expected;
  for (std::string line; std::getline(list, line);) expected.push_back(line);
  CHECK(kInstalledHeaders == expected);
}
