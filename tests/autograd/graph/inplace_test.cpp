// In-place writes. A write that would make a gradient wrong is an error.
#include <tend/autograd/tools/function.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using V = std::vector<double>;

}  // namespace

TEST_CASE("an infinite gradient of overwritten elements does not reach the old values") {
  const Tensor x = irregular_leaf({3, 4});
  const Tensor w = irregular_leaf({4});
  const Tensor y = x * 2;
  y[0] = w;
  (y * tensor({{kInf}, {1}, {1}}, float64)).sum().backward();
  CHECK(values(x.grad()) == V{0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(values(w.grad()) == V(4, kInf));
}

TEST_CASE("the error for a changed saved tensor names the operations that saved and changed it") {
  const Tensor x = irregular_leaf({3, 4});
  {
    const Tensor y = x * 2;
    const Tensor z = (y * y).sum();
    y.add_(1);
    CHECK_THROWS_WITH(z.backward(),
                      "[mul] a tensor of shape (3, 4) that was saved for backward was "
                      "changed later by [add_]: its version was 0 and is now 1");
  }
  {
    const Tensor y = x * 2;
    const Tensor z = y.exp();  // saves its own result
    z[0] = 1.0;
    const Tensor loss = z.sum();
    CHECK_THROWS_WITH(loss.backward(),
                      ContainsSubstring("[exp]") && ContainsSubstring("by [fill_]"));
  }
  {
    const Tensor y = x * 2;
    const Tensor z = (y * y).sum();
    y.detach().zero_();  // shares elements with y
    CHECK_THROWS_AS(z.backward(), AutogradError);
  }
  {
    // An optimizer's step between forward and backward.
    const Tensor z = (x * x).sum();
    {
      const NoGradGuard no_grad;
      x.sub_(0.1);
    }
    CHECK_THROWS_WITH(z.backward(), ContainsSubstring("by [sub_]"));
  }
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("tensors that nobody saved may change") {
  const Tensor x = irregular_leaf({3, 4});
  const Tensor y = x * 2;
  const Tensor z = y + 1;
  y.mul_(5);
  CHECK_NOTHROW(z.sum().backward());
  CHECK(values(x.grad()) == V(12, 2));
}

TEST_CASE("writes are refused before anything has changed") {
  const Tensor x = irregular_leaf({3, 4});
  CHECK_THROWS_WITH(x.add_(1),
                    "[add_] cannot write in place to a leaf that requires grad, or to a view of "
                    "one; use NoGradGuard");
  CHECK_THROWS_AS(x[0].zero_(), AutogradError);
  CHECK_THROWS_AS((x.t()[{0, 1}] = 1.0), AutogradError);
  CHECK(x.version() == 0);
  {
    const NoGradGuard no_grad;
    CHECK_NOTHROW(x.add_(1));
  }
  CHECK(x.version() == 1);

  const Tensor row = tensor({1., 2., 3.});
  const Tensor repeated = row.expand({2, 3});
  CHECK_THROWS_WITH(
      repeated.add_(1),
      "[add_] cannot write in place if two indices may share an element: shape (2, 3), strides "
      "(0, 1); use a clone");
  CHECK_THROWS_WITH(row.add_(ones({2, 3})),
                    "[add_] the result of an in-place operation must have the tensor's shape (3,), "
                    "but has shape (2, 3)");
  CHECK_THROWS_WITH(row.copy_(ones({2})), "[copy_] (2,) does not broadcast to (3,)");
  CHECK_THROWS_WITH(tensor({1, 2}).mul_(0.5),
                    "[mul_] the result is float32, which a tensor of int64 cannot store in place");
  CHECK(values(row) == V{1, 2, 3});
  CHECK(row.version() == 0);
}

TEST_CASE("copy_ converts floats for an int64 tensor and records no gradient") {
  const Tensor x = irregular_leaf({4});
  const Tensor whole = zeros({4}, int64);
  whole.copy_(x);
  CHECK(values(whole) == V{-1, 0, 0, 1});
  CHECK_FALSE(whole.requires_grad());
}

TEST_CASE("set_data gives a leaf new elements but its old views keep the old elements") {
  Tensor x = irregular_leaf({3, 4});
  const Tensor row = x[0];
  x.set_data(ones({2, 2}, float64));
  CHECK(x.requires_grad());
  CHECK(x.shape() == Shape{2, 2});
  {
    const NoGradGuard no_grad;
    row.add_(1);
  }
  CHECK(row.requires_grad());
  CHECK(values(x) == V(4, 1));
  CHECK_THROWS_AS((x * 2).set_data(x), AutogradError);
}

TEST_CASE("a leaf whose elements were replaced gets the gradient of the old elements") {
  Tensor x = irregular_leaf({4});
  const V before = values(x);
  const Tensor z = (x * x).sum();
  x.set_data(zeros({4}, float64));
  z.backward();
  for (std::size_t i = 0; i < 4; ++i) CHECK(values(x.grad())[i] == 2 * before[i]);
}

namespace {}  // namespace

TEST_CASE("a view made without grad mode is detached, and writing to it raises the version") {
  const Tensor w = full({2}, 3.0).requires_grad_(), x = w * 2, square = x * x;
  Tensor view;
  {
    const NoGradGuard guard;
    view = x.narrow(0, 0, 1);
  }
  CHECK_FALSE(view.requires_grad());
  view.fill_(1);
  CHECK(values(x) == V{1, 6});
  CHECK_THROWS_AS(square.sum().backward(), AutogradError);
  x.sum().backward();
  CHECK(values(w.grad()) == V{2, 2});
  view.mul_(w[0]);
  CHECK(view.requires_grad());
  CHECK(std::string(x.grad_fn()) == "MulBackward0");
}

TEST_CASE("a view of a tensor with overlapping elements cannot record a write") {
  const Tensor twice = zeros({1}).expand({3}).detach(), w = ones({1}).requires_grad_();
  CHECK_THROWS_MATCHES(
      twice[0].add_(w[0]), ShapeError,
      says("[add_] cannot record a write to a view of a tensor in which two indices may share an "
           "element: shape (3,), strides (0,); use a view of a clone of the tensor"));
  CHECK(values(twice) == V{0, 0, 0});
  twice[0].add_(1);
  CHECK(values(twice) == V{1, 1, 1});
}

TEST_CASE("a square matrix may be overwritten by its transpose") {
  const Tensor x = tensor({{1, 2}, {3, 4}}, float64);
  x.copy_(x.t());
  CHECK(values(x) == V{1, 3, 2, 4});
}

TEST_CASE("set_data refuses a new shape or dtype while there is a gradient") {
  Tensor x = tensor({1, 2}, float64).requires_grad_();
  (x * 2).sum().backward();
  CHECK_THROWS_MATCHES(x.set_data(ones({2})), AutogradError,
                       says("[set_data] the tensor (2,) float64 has a gradient; call zero_grad() "
                            "before it becomes (2,) float32"));
  x.zero_grad();
  x.set_data(ones({2}));
  CHECK_THROWS_AS(Tensor().set_data(x), AutogradError);
}

// The expected numbers are from PyTorch 2.6.
TEST_CASE("An in-place change of shape keeps the views and the history of a tensor") {
  const Tensor x = arange(6, float64).reshape({2, 3}).requires_grad_();
  const Tensor y = x * 2;
  const Tensor row = y[0];
  const Tensor handle = y;  // NOLINT(performance-unnecessary-copy-initialization): tests copies
  y.transpose_(0, 1);
  CHECK(handle.shape() == Shape{3, 2});
  CHECK(std::string(y.grad_fn()) == "TransposeBackward0");
  y.mul_(arange(6, float64).view({3, 2}));
  CHECK(values(row) == V{0, 4, 16});
  (row.sum() + y.sum()).backward();
  CHECK(values(x.grad()) == V{0, 8, 16, 2, 6, 10});

  const Tensor z = x.detach() * 1;
  const Tensor view = z[1];
  view.unsqueeze_(0);
  view.fill_(7);
  CHECK(values(z) == V{0, 1, 2, 7, 7, 7});
  CHECK_THROWS_AS(x.t_(), AutogradError);
  CHECK(x.shape() == Shape{2, 3});
}

TEST_CASE("in-place arithmetic reads overlapping inputs before it overwrites them") {
  const auto numbers = [] { return tensor({1, 2, 3, 4, 5, 6}, float64); };
  const NoGradGuard no_graph;
  Tensor x = numbers();
  x.mul_(x);
  CHECK(values(x) == V{1, 4, 9, 16, 25, 36});
  x.narrow(0, 1, 5).add_(x.narrow(0, 0, 5));
  CHECK(values(x) == V{1, 5, 13, 25, 41, 61});
  x = numbers().view({2, 3});
  const Tensor square = x.narrow(1, 0, 2);
  square.sub_(square.t());
  CHECK(values(x) == V{0, -2, 3, 2, 0, 6});
  x = numbers();
  x.div_(x[1]);
  CHECK(values(x) == V{0.5, 1, 1.5, 2, 2.5, 3});
  x = numbers();
  x.add_(x.narrow(0, 5, 1), 2);
  CHECK(values(x) == V{13, 14, 15, 16, 17, 18});
  CHECK(x.version() == 1);
}
