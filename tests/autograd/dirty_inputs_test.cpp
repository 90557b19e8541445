// Custom functions that change their inputs in place.
#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/tools/function.h>
#include <tend/autograd/tools/gradcheck.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;
using Tensors = std::vector<Tensor>;
using Context = autograd::FunctionContext;

// Marks x as dirty, multiplies it by 2 in place, and returns it. A flag that is false leaves out
// one of these actions.
struct Doubled : autograd::Function<Doubled> {
  Tensor forward(Context& context, const Tensor& x) const {
    if (marks) context.mark_dirty({x});
    if (writes) x.mul_(2);
    return returns ? x : x * 3;
  }
  static Tensor backward(const Context&, const Tensor& grad) { return 2 * grad; }
  bool marks = true, writes = true, returns = true;
};

// Computes exp in place and saves the result.
struct Exp : autograd::Function<Exp> {
  static Tensor forward(Context& context, const Tensor& x) {
    context.mark_dirty({x});
    x.exp_();
    context.save_for_backward({x});
    return x;
  }
  static Tensor backward(const Context& context, const Tensor& grad) {
    return grad * context.saved(0);
  }
};

// Returns two tensors: x * w, which is computed in place and saved, and w + 1.
struct Scaled : autograd::Function<Scaled> {
  static Tensors forward(Context& context, const Tensor& x, const Tensor& w) {
    context.mark_dirty({x});
    context.save_for_backward({w, x});
    x.mul_(w);
    return {x, w + 1};
  }
  static Tensors backward(const Context& context, const Tensors& grads) {
    const Tensor w = context.saved(0);
    return {grads[0] * w, grads[0] * context.saved(1) / w + grads[1]};
  }
};

}  // namespace

TEST_CASE("an input that a custom function marks as dirty gets the function as its grad_fn") {
  const Tensor a = leaf({1, 2});
  const Tensor x = a * 1, square = x * x;
  const Tensor y = Doubled().apply(x);
  CHECK(y.impl() == x.impl());
  CHECK(values(x) == V{2, 4});
  CHECK(x.version() == 2);  // mul_ and mark_dirty each add 1, as in PyTorch
  CHECK(std::string(x.grad_fn()) == "DoubledBackward");
  CHECK(values(autograd::grad({x.sum()}, {a}, {}, {.retain_graph = true})[0]) == V{2, 2});
  CHECK_THROWS_AS(square.sum().backward(), AutogradError);  // square saved x

  const Tensor constant = tensor({1, 2}, float64);
  CHECK(Doubled().apply(constant).impl() == constant.impl());
  CHECK_FALSE(constant.requires_grad());
  // mark_dirty raises the version even if forward does not write.
  const Tensor untouched = a * 1;
  Doubled without_write;
  without_write.writes = false;
  CHECK(values(autograd::grad({without_write.apply(untouched).sum()}, {a})[0]) == V{2, 2});
  CHECK(untouched.version() == 1);
}

TEST_CASE("a custom function may save the input that it changes in place") {
  const Tensor a = leaf({0.5, -1});
  const auto f = [](const Tensor& t) { return Exp().apply(t * 2); };
  CHECK(values(f(a)) == values(exp(a * 2)));
  CHECK(gradcheck(f, {a}));
  CHECK(gradgradcheck(f, {a}));
  const Tensor w = leaf({3, -4});
  const auto scaled = [](const Tensor& t, const Tensor& by) {
    const Tensors out = Scaled().apply(t * 1, by);
    return out[0] * out[1];
  };
  CHECK(values(scaled(a, w)) == values(a * w * (w + 1)));
  CHECK(gradcheck(scaled, {a, w}));
  CHECK(gradgradcheck(scaled, {a, w}));
}

TEST_CASE("a custom function that writes to a view in place is in the history of the base") {
  const Tensor weights = tensor({{1, 10}, {100, 1000}}, float64);
  for (const bool several : {false, true}) {
    const Tensor a = leaf({{1, 2}, {3, 4}});
    const Tensor base = a * 1, view = base[0], other = base.t();
    if (several) {
      const Tensor y = Scaled().apply(view, tensor({2, 2}, float64))[0];
      CHECK(y.impl() == view.impl());
    } else {
      Doubled().apply(view);
    }
    CHECK(values(base) == V{2, 4, 3, 4});
    CHECK(std::string(base.grad_fn()) == "CopySlices");
    const V expected = {2, 20, 100, 1000};
    CHECK(values(autograd::grad({(base * weights).sum()}, {a}, {}, {.retain_graph = true})[0]) ==
          expected);
    CHECK(values(autograd::grad({(other * weights.t()).sum()}, {a}, {},
                                {.retain_graph = true})[0]) == expected);
    CHECK(values(autograd::grad({view.sum()}, {a})[0]) == V{2, 2, 0, 0});
  }
}

TEST_CASE("mark_dirty refuses leaves, their views and expanded tensors") {
  Tensor x = leaf({1, 2});
  CHECK_THROWS_MATCHES(Doubled().apply(x), AutogradError,
                       says("[mark_dirty] cannot write in place to a leaf that requires grad, or "
                            "to a view of one; use NoGradGuard"));
  CHECK_THROWS_AS(Doubled().apply(x[0]), AutogradError);
  CHECK_THROWS_AS(Doubled().apply(tensor(1.).expand({2})), ShapeError);
  CHECK(values(x) == V{1, 2});  // the calls threw before they changed anything
  CHECK(x.version() == 0);
  {
    const NoGradGuard guard;
    CHECK(Doubled().apply(x).impl() == x.impl());
    CHECK(values(x) == V{2, 4});
  }
  Doubled lost;
  lost.returns = false;
  CHECK_THROWS_MATCHES(
      lost.apply(x * 1), AutogradError,
      says("[DoubledBackward] forward marked its input 0 as dirty, but did not return it"));

  struct Both : autograd::Function<Both> {
    static Tensors forward(Context& context, const Tensor& a, const Tensor& b) {
      context.mark_dirty({a, b});
      return {a, b};
    }
    static Tensors backward(const Context&, const Tensors& grads) { return grads; }
  };
  const Tensor y = x * 1;
  const Tensors out = Both().apply(y, x * 3);
  CHECK(values(autograd::grad({(out[0] * out[1]).sum()}, {x})[0]) == V{12, 24});
}

namespace {

// Swaps the values of x and y in place.
struct Swapped : autograd::Function<Swapped> {
  static Tensors forward(Context& context, const Tensor& x, const Tensor& y) {
    context.mark_dirty({x, y});
    const Tensor kept = x.clone();
    x.copy_(y);
    y.copy_(kept);
    return {x, y};
  }
  static Tensors backward(const Context&, const Tensors& grads) { return {grads[1], grads[0]}; }
};

}  // namespace

TEST_CASE("a custom function may write to several parts of one tensor") {
  const auto both = [](const Tensor& t) {
    const Tensor base = t * 1;
    Swapped().apply(base.narrow(0, 0, 2), base.narrow(0, 2, 2));
    return base * base;
  };
  const Tensor x = leaf({1, 2, 3, 4});
  CHECK(values(both(x)) == V{9, 16, 1, 4});
  CHECK(gradcheck(both, {x}).passed);
  CHECK(gradgradcheck(both, {x}).passed);
}

namespace {

// forward stores the count by which backward divides.
struct Mean : autograd::Function<Mean> {
  Tensor forward(Context&, const Tensor& x) const {
    count = x.numel();
    return x.sum() / count;
  }
  Tensor backward(const Context&, const Tensor& grad) const {
    return (grad / count).expand({count});
  }
  mutable std::int64_t count = 0;
};

}  // namespace

TEST_CASE("backward of a custom function sees the members that its own forward call set") {
  const Mean mean;
  const Tensor x = leaf({1, 2, 3, 4}), y = leaf({1, 2});
  const Tensor first = mean.apply(x), second = mean.apply(y);
  (first + second).backward();
  CHECK(values(x.grad()) == V{0.25, 0.25, 0.25, 0.25});
  CHECK(values(y.grad()) == V{0.5, 0.5});
  CHECK(mean.count == 0);
}
