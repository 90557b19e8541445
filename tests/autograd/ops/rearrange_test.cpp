// Tests of pad and unfold that do not fit into rows of the operation table.
#include <limits>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("pad converts its value to the dtype of the tensor") {
  CHECK(values(pad(tensor({1, 2}), {1, 0}, PadMode::constant, 2.7)) == V{2, 1, 2});
  CHECK(values(pad(tensor({0., 1.}, boolean), {1, 0}, PadMode::constant, 2)) == V{1, 0, 1});
  const Tensor x = pad(tensor({1.}), {0, 1}, PadMode::constant, -kInf);
  CHECK(values(x) == V{1, -kInf});
}

TEST_CASE("unfold is a view and its overlapping windows cannot be written in place") {
  const Tensor x = tensor({1., 2., 3., 4.});
  const Tensor windows = unfold(x, 0, 2, 1);
  x[1] = 9.0;
  CHECK(values(windows) == V{1, 9, 9, 3, 3, 4});
  CHECK_THROWS_MATCHES(
      windows.add_(1), ShapeError,
      says("[add_] cannot write in place if two indices may share an element: shape (3, 2), "
           "strides (1, 1); use a clone"));
  CHECK_THROWS_AS(windows.copy_(ones({3, 2})), ShapeError);
  CHECK_THROWS_AS(windows.fill_(0), ShapeError);
  CHECK(values(x) == V{1, 9, 3, 4});
  // Windows that do not overlap can be written.
  unfold(x, 0, 2, 2).zero_();
  CHECK(values(x) == V(4, 0));
}
