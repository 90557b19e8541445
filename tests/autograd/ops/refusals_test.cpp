// Tests errors for options, dimensions and sizes that are not in rows of the operation table.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

// True if f throws an error of type E with this message.
template <class E, class F>
bool refuses(F f, const std::string& message) {
  try {
    f();
  } catch (const E& error) {
    UNSCOPED_INFO(error.what());
    return error.what() == message;
  }
  return false;
}

}  // namespace

TEST_CASE("arithmetic refuses results that do not fit") {
  const Tensor x = tensor({1, 2});
  CHECK(refuses<Error>([&] { pow(x, -1); },
                       "[pow] int64 to the power of -1: integers have no negative powers"));
  CHECK(refuses<ShapeError>(
      [] {
        zeros({3}).pow_(ones({2, 3}));
      },
      "[pow_] the result of an in-place operation must have the tensor's shape (3,), but has shape "
      "(2, 3)"));
  CHECK(refuses<DTypeError>(
      [&] { x.exp_(); },
      "[exp_] the result is float32, which a tensor of int64 cannot store in place"));
  CHECK(x.equal(tensor({1, 2})));
  CHECK(x.version() == 0);
}

TEST_CASE("rearrangements refuse invalid arguments") {
  const Tensor x = tensor({1., 2., 3.});
  CHECK(refuses<ShapeError>(
      [&] {
        roll(x, Shape{1, 2}, Shape{0});
      },
      "[roll] shifts (1, 2) and dimensions (0,) must have the same length, at least 1"));
  CHECK(refuses<ShapeError>([&] { repeat(x, {-1}); },
                            "[repeat] dimension 0 cannot be repeated -1 times"));
  CHECK(refuses<ShapeError>([&] { repeat_interleave(x, -1); },
                            "[repeat_interleave] repeats must not be negative, got -1"));
  CHECK(refuses<Error>(
      [] {
        pad(ones({2, 3}), {1, 1}, PadMode::reflect, 2.0);
      },
      "[pad] only constant padding accepts a value"));
  CHECK(refuses<ShapeError>([&] { unfold(x, 0, 2, 0); },
                            "[unfold] the step must be positive, got 0"));
}

TEST_CASE("reductions refuse invalid dimensions and dtypes") {
  const Tensor x = tensor({{1., 2.}, {3., 4.}});
  CHECK(refuses<ShapeError>(
      [&] {
        x.sum({0, -2});
      },
      "[sum] dimension 0 appears more than once in (0, -2)"));
  CHECK_THROWS_AS(x.amax(2), IndexError);
  CHECK_THROWS_AS(x.argmax(2), IndexError);
  CHECK(refuses<DTypeError>(
      [] {
        tensor({1, 2}).mean();
      },
      "[mean] needs float32 or float64, got int64"));
  CHECK(refuses<DTypeError>(
      [] {
        tensor({1, 2}).std();
      },
      "[std] needs float32 or float64, got int64"));
}

TEST_CASE("layers refuse options that make no sense") {
  const Tensor x = ones({2, 3, 5}), w = ones({4, 3, 2}), y = ones({2});
  CHECK(refuses<ShapeError>([&] { conv1d(x, w, {}, {.stride = 0}); },
                            "[conv1d] stride 0, padding 0, dilation 1 and groups 1 must be "
                            "positive, padding may be 0"));
  CHECK(refuses<ShapeError>([&] { group_norm(x, 0, {}, {}); },
                            "[group_norm] 0 groups do not divide dimension 1 of (2, 3, 5)"));
  CHECK(refuses<Error>(
      [&] {
        cross_entropy(x[0], tensor({0, 1, 2}), {.label_smoothing = 1.5});
      },
      "[cross_entropy] label_smoothing is 1.5, not in [0, 1]"));
  CHECK(refuses<Error>([&] { smooth_l1_loss(y, y, Reduction::mean, -1); },
                       "[smooth_l1_loss] beta is -1, which must not be negative"));
  CHECK(refuses<Error>([&] { huber_loss(y, y, Reduction::mean, 0); },
                       "[huber_loss] delta is 0, which must be positive"));
  CHECK(refuses<Error>([&] { triplet_margin_loss(y, y, y, {.margin = 0}); },
                       "[triplet_margin_loss] the margin is 0, which must be positive"));
  CHECK(refuses<Error>([&] { hardtanh(y, 1, -1); },
                       "[hardtanh] min_val = 1 is larger than max_val = -1"));
}

TEST_CASE("einsum says what is wrong with an equation") {
  const auto refused = [](const std::string& equation, const std::string& message) {
    return refuses<Error>(
        [&] {
          einsum(equation, {ones({2, 3})});
        },
        "[einsum] \"" + equation + "\": " + message);
  };
  const std::string rule = R"( is neither a letter nor part of "...", "," or the first "->")";
  CHECK(refused("i1", "'1' at position 1" + rule));
  CHECK(refused("..ij", "'.' at position 0" + rule));
  CHECK(refused("ij->ji->", "'-' at position 6" + rule));
  CHECK(refused("...i...", "a second ellipsis at position 4"));
  CHECK(refused("ij->ii", "subscript i is twice in the result"));
  CHECK(refused("ij->k", "subscript k of the result is in no operand"));
  CHECK(refused("ijk", "3 subscripts do not fit operand 0 of shape (2, 3)"));
}
