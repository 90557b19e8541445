// What rows cannot show of flip, roll, repeat, repeat_interleave, pad and unfold.
#include <limits>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("rearrangements refuse arguments that fit no tensor") {
  const Tensor x = tensor({1., 2., 3.});
  CHECK_THROWS_MATCHES(
      roll(x, Shape{1, 2}, Shape{0}), ShapeError,
      says("[roll] shifts (1, 2) and dimensions (0,) must be one or more, and as many of both"));
  CHECK_THROWS_AS(roll(x, Shape{}, Shape{}), ShapeError);
  CHECK_THROWS_MATCHES(repeat(x, {-1}), ShapeError,
                       says("[repeat] dimension 0 cannot be repeated -1 times"));
  CHECK_THROWS_MATCHES(repeat_interleave(x, -1), ShapeError,
                       says("[repeat_interleave] repeats is -1"));
  CHECK_THROWS_MATCHES(
      pad(x, {1}), ShapeError,
      says("[pad] padding (1,) is not two numbers for each of at most 1 dimensions"));
  CHECK_THROWS_MATCHES(pad(ones({2, 3}), {1, 1}, PadMode::reflect, 2.0), Error,
                       says("[pad] only constant padding takes a value"));
  CHECK_THROWS_MATCHES(unfold(x, 0, 2, 0), ShapeError,
                       says("[unfold] the step must be positive, got 0"));
  CHECK_THROWS_AS(unfold(x, 0, -1, 1), ShapeError);
}

TEST_CASE("rearrangements take numbers at the ends of int64") {
  const Tensor x = tensor({{1., 2., 3.}, {4., 5., 6.}});
  CHECK(values(roll(x, kMin, 1)) == values(roll(x, kMin % 3, 1)));
  CHECK(values(roll(x, kMax)) == values(roll(x, kMax % 6)));
  CHECK(unfold(x, 1, 2, kMax).shape() == Shape{2, 1, 2});
  CHECK_THROWS_AS(unfold(x, 1, kMax, kMax), ShapeError);
  CHECK_THROWS_AS(repeat(x, {kMax, kMax}), ShapeError);
  CHECK_THROWS_AS(repeat_interleave(x, kMax), ShapeError);
  CHECK_THROWS_AS(repeat_interleave(x, tensor({kMax, std::int64_t{1}}), 0), ShapeError);
  for (const PadMode mode :
       {PadMode::constant, PadMode::reflect, PadMode::replicate, PadMode::circular}) {
    for (const std::int64_t huge : {kMin, kMin + 1, kMax}) {
      CHECK_THROWS_AS(pad(x, {huge, 0}, mode), Error);
      CHECK_THROWS_AS(pad(x, {0, huge}, mode), Error);
      CHECK_THROWS_AS(pad(x, {huge, kMax}, mode), Error);
    }
  }
  for (const std::int64_t offset : {kMin, kMax}) {
    CHECK(diagonal(x, offset).shape() == Shape{0});
    CHECK_THROWS_AS(diag(x[0], offset), Error);
  }
  // An empty tensor may have sizes whose product is beyond int64.
  const Tensor nothing = empty({0, 3}).repeat({1, kMax / 3});
  CHECK(nothing.numel() == 0);
  CHECK_THROWS_AS(repeat_interleave(nothing, kMax, 1), ShapeError);
}

TEST_CASE("repeating nothing gives nothing, and a gradient of zero") {
  const Tensor x = ones({2, 3}, float64).requires_grad_();
  repeat(x, {0, 2}).sum().backward();
  CHECK(values(x.grad()) == V(6, 0));
  CHECK(repeat_interleave(x, zeros({2}, int64), 0).shape() == Shape{0, 3});
}

TEST_CASE("flip and roll copy, views stay what they were") {
  const Tensor x = tensor({1., 2., 3.});
  const Tensor flipped = flip(x, 0), rolled = roll(x, 0);
  x.zero_();
  CHECK(values(flipped) == V{3, 2, 1});
  CHECK(values(rolled) == V{1, 2, 3});
}

TEST_CASE("pad converts its value to the dtype of the tensor") {
  CHECK(values(pad(tensor({1, 2}), {1, 0}, PadMode::constant, 2.7)) == V{2, 1, 2});
  CHECK(values(pad(tensor({0., 1.}, boolean), {1, 0}, PadMode::constant, 2)) == V{1, 0, 1});
  const Tensor x = pad(tensor({1.}), {0, 1}, PadMode::constant, -kInf);
  CHECK(values(x) == V{1, -kInf});
}

TEST_CASE("unfold is a view, and overlapping windows are not written in place") {
  const Tensor x = tensor({1., 2., 3., 4.});
  const Tensor windows = unfold(x, 0, 2, 1);
  x[1] = 9.0;
  CHECK(values(windows) == V{1, 9, 9, 3, 3, 4});
  CHECK_THROWS_MATCHES(
      windows.add_(1), ShapeError,
      says("[add_] shape (3, 2) with strides (1, 1) may name one element twice; write to a clone"));
  CHECK_THROWS_AS(windows.copy_(ones({3, 2})), ShapeError);
  CHECK_THROWS_AS(windows.fill_(0), ShapeError);
  CHECK(values(x) == V{1, 9, 3, 4});
  // Windows that only touch are written.
  unfold(x, 0, 2, 2).zero_();
  CHECK(values(x) == V(4, 0));
}

TEST_CASE("pad refuses a value that int64 cannot hold") {
  for (const double value : {1e30, kInf, kNaN}) {
    CHECK_THROWS_MATCHES(pad(tensor({1, 2}), {1, 0}, PadMode::constant, value), DTypeError,
                         says(as_text("[pad] int64 cannot hold the value ", value)));
  }
}

TEST_CASE("pad mirrors and repeats an empty batch, but no other empty dimension") {
  for (const PadMode mode : {PadMode::reflect, PadMode::replicate}) {
    CHECK(pad(ones({0, 3, 4}), {1, 1}, mode).shape() == Shape{0, 3, 6});
    CHECK(pad(ones({0, 3, 4, 5}), {1, 1, 2, 0}, mode).shape() == Shape{0, 3, 6, 7});
    CHECK_THROWS_MATCHES(pad(ones({2, 0, 3}), {1, 1}, mode), ShapeError,
                         says("[pad] dimension 1 of (2, 0, 3) is empty"));
    CHECK_THROWS_AS(pad(ones({0, 3}), {1, 1}, mode), ShapeError);
    CHECK_THROWS_AS(pad(ones({2, 3, 0}), {0, 0}, mode), ShapeError);
    CHECK_THROWS_AS(pad(ones({0, 3, 4}), {1, 1, 1, 1}, mode), ShapeError);
  }
  CHECK(pad(ones({2, 0, 4}), {1, 1}, PadMode::circular).shape() == Shape{2, 0, 6});
}

TEST_CASE("reflecting and repeating pads leave something in one dimension at least, as PyTorch's") {
  for (const PadMode mode : {PadMode::reflect, PadMode::replicate}) {
    CHECK_THROWS_MATCHES(pad(ones({2, 4, 2}), {-1, -1}, mode), ShapeError,
                         says("[pad] padding (-1, -1) of (2, 4, 2) leaves nothing"));
    CHECK_THROWS_AS(pad(ones({2, 4, 2, 3}), {-1, -2, -1, -1}, mode), ShapeError);
    CHECK(pad(ones({2, 4, 2, 3}), {-1, -2, 0, 0}, mode).shape() == Shape{2, 4, 2, 0});
    CHECK(pad(ones({2, 4, 2, 3}), {-1, -2, 1, 1}, mode).shape() == Shape{2, 4, 4, 0});
  }
  CHECK(pad(ones({2, 4, 2}), {-1, -1}, PadMode::circular).shape() == Shape{2, 4, 0});
}
