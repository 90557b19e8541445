// Parameters that accept a word instead of an enumerator.
#include <tend/core/base/error.h>
#include <tend/core/base/words.h>

#include "tests/catch.h"

namespace {

enum class Side { left, right, both_sides };

}  // namespace

template <>
inline constexpr std::string_view tend::detail::kWords<Side> = "side: left right both";

namespace {

Side side_of(tend::OrWord<Side> side) {
  return side;
}

}  // namespace

TEST_CASE("a parameter accepts an enumerator or its word") {
  CHECK(side_of(Side::right) == Side::right);
  CHECK(side_of("left") == Side::left);
  CHECK(side_of("right") == Side::right);
  CHECK(side_of(std::string("both")) == Side::both_sides);
  for (const std::string word : {"", "lef", "leftt", "right both", "Left", "side:"}) {
    CAPTURE(word);
    CHECK_THROWS_WITH(side_of(word),
                      "[side] \"" + word + "\" is unknown; the words are left right both");
  }
}
