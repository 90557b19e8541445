// Who includes whom.
#include <algorithm>

#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

namespace {

// "autograd" of `#include <tend/autograd/tensor.h>`; empty for other lines.
std::string floor_included(const std::string& line) {
  const std::string start = "#include <tend/";
  if (!line.starts_with(start)) return {};
  const std::string rest = line.substr(start.size());
  return rest.substr(0, rest.find('/'));
}

}  // namespace

TEST_CASE("a floor includes its own headers and those of the floors below") {
  std::size_t includes = 0;
  for (std::size_t number = 0; number < kFloors.size(); ++number) {
    const auto above = kFloors.begin() + static_cast<std::ptrdiff_t>(number) + 1;
    for (const Source& source : sources_of(kFloors[number])) {
      for (const std::string& line : source.lines) {
        const std::string floor = floor_included(line);
        if (floor.empty()) continue;
        ++includes;
        INFO(source.path << ": " << line);
        CHECK(std::find(above, kFloors.end(), floor) == kFloors.end());
        CHECK(std::find(kFloors.begin(), kFloors.end(), floor) != kFloors.end());
      }
    }
  }
  CHECK(includes > 500);  // the test has looked at something
}
