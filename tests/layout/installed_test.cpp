// Which headers an installed tend has.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string_view>

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

TEST_CASE("a shared library exports what the installed headers declare") {
  std::vector<std::string> missing;
  std::size_t declaring = 0;
  for (const std::string& header : kInstalledHeaders) {
    std::ifstream file(std::string(TEND_SOURCE) + "/" + header);
    std::size_t number = 0, last_include = 0, push = 0, first = 0, pop = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.starts_with("#include")) last_include = number;
      if (line == "#pragma GCC visibility push(default)") push = number;
      if (line == "#pragma GCC visibility pop") pop = number;
      if (first == 0 && line.starts_with("namespace")) first = number;
    }
    if (first == 0) continue;  // it includes others, no more
    ++declaring;
    // What it includes has pragmas of its own, or stays hidden.
    if (push <= last_include || first < push || pop != number) missing.push_back(header);
  }
  const std::vector<std::string> none;
  CHECK(missing == none);
  CHECK(declaring > 100);
}

// The pragma does not reach a function that is declared as a friend within a class and nowhere
// else.
TEST_CASE("friends of classes that are functions are declared or defined in an installed header") {
  const std::regex friend_function(R"( friend [^;{]*?(operator[^\s(]+|\w+)\()");
  const std::regex function(R"(\n\w[^\n(]* [&*]?(operator[^\s(]+|\w+)\()");
  std::vector<std::string> hidden;
  std::size_t friends = 0;
  for (const std::string& header : kInstalledHeaders) {
    std::ifstream file(std::string(TEND_SOURCE) + "/" + header);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::sregex_iterator end;
    std::set<std::string> outside;
    for (std::sregex_iterator at(text.begin(), text.end(), function); at != end; ++at)
      outside.insert((*at)[1]);
    for (std::sregex_iterator at(text.begin(), text.end(), friend_function); at != end; ++at) {
      ++friends;
      const auto after = static_cast<std::size_t>(at->position() + at->length());
      const std::size_t end_of_it = text.find_first_of(";{", after);
      const bool defined = text[end_of_it] == '{' ||
                           std::string_view(text).substr(0, end_of_it).ends_with("= default");
      if (!defined && outside.count((*at)[1]) == 0)
        hidden.push_back(header + ": " + (*at)[1].str());
    }
  }
  const std::vector<std::string> none;
  CHECK(hidden == none);
  CHECK(friends > 5);
}
