// How much code there is. One person is to be able to read it.
#include <map>

#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

namespace {

// Lines that are neither empty nor a comment alone, nor one of the two pragmas of each exported
// header.
std::size_t code_lines(const Source& source) {
  std::size_t count = 0;
  for (const std::string& line : source.lines) {
    if (line.starts_with("#pragma GCC visibility")) continue;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line.compare(first, 2, "//") != 0) ++count;
  }
  return count;
}

std::size_t code_lines(const std::string& floor) {
  std::size_t count = 0;
  for (const Source& source : sources_of(floor)) count += code_lines(source);
  return count;
}

}  // namespace

TEST_CASE("each floor stays within its budget of code lines") {
  // To raise one is a decision: say in the commit what the lines give to users.
  const std::map<std::string, std::size_t> budgets{
      {"core", 15'770}, {"autograd", 12'990}, {"nn", 16'260}, {"attention", 5'590}};
  for (const std::string& floor : kFloors) {
    const std::size_t lines = code_lines(floor);
    INFO(floor << " has " << lines << " lines of code");
    CHECK(lines > 0);
    CHECK(lines <= budgets.at(floor));
  }
}

TEST_CASE("the Trainer's loop has under 150 lines of code") {
  bool found = false;
  for (const Source& source : sources_of("nn")) {
    if (source.path != "nn/training/trainer.cpp") continue;
    found = true;
    CHECK(code_lines(source) < 150);
  }
  CHECK(found);
}
