// autograd::checkpoint gives the same gradients with less memory.
#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/gradcheck.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;
using Tensors = std::vector<Tensor>;

// A layer with dropout, whose weight is not among its inputs.
struct Layer {
  Tensor weight = randn({8, 8}, float64).requires_grad_();
  mutable int runs = 0;

  Tensor operator()(const Tensor& x) const {
    ++runs;
    return dropout(tanh(matmul(x, weight)), 0.3) + x;
  }
};

// The result of two layers, the random numbers after it, and the gradients.
template <class Call>
std::vector<V> results(const Tensor& x, const Layer& first, const Layer& second, Call call) {
  manual_seed(3);
  const Tensor y = call(second, call(first, x));
  const Tensor after = rand({2});  // the random stream continues as without a checkpoint
  const Tensors g = autograd::grad({(y * y).sum()}, {x, first.weight, second.weight});
  return {values(y), values(after), values(rand({2})), values(g[0]), values(g[1]), values(g[2])};
}

}  // namespace

TEST_CASE("Gradients with and without checkpoint have the same bits even with dropout") {
  manual_seed(1);
  const Layer first, second;
  const Tensor x = randn({4, 8}, float64).requires_grad_();
  const auto plain =
      results(x, first, second, [](const Layer& f, const Tensor& t) { return f(t); });
  CHECK(first.runs == 1);
  const auto saved = results(x, first, second, [](const Layer& f, const Tensor& t) {
    return autograd::checkpoint([&f](const Tensor& u) { return f(u); }, t);
  });
  CHECK(first.runs == 3);
  CHECK(second.runs == 3);
  CHECK(saved == plain);
  const auto nested = results(x, first, second, [](const Layer& f, const Tensor& t) {
    const auto inner = [&f](const Tensor& u) { return f(u); };
    return autograd::checkpoint(
        [inner](const Tensor& u) { return autograd::checkpoint(inner, u * 1) * 1; }, t);
  });
  CHECK(nested == plain);
}

TEST_CASE("A checkpoint has second derivatives") {
  manual_seed(1);
  const Tensor w = randn({3, 3}, float64).requires_grad_();
  const auto f = [](const Tensor& x, const Tensor& weight) {
    const auto inner = [](const Tensor& t, const Tensor& u) { return sigmoid(matmul(t, u)).exp(); };
    return autograd::checkpoint(TensorFunction(inner), Tensors{x, weight})[0];
  };
  const Tensor x = randn({2, 3}, float64).requires_grad_();
  CHECK(gradcheck(f, {x, w}));
  CHECK(gradgradcheck(f, {x, w}));
}

TEST_CASE("backward adds to the gradients of parameters that a checkpointed function captures") {
  manual_seed(1);
  Tensor weight = randn({8, 8}, float64).requires_grad_();
  const Tensor x = randn({4, 8}, float64);
  const auto f = [&weight](const Tensor& t) { return tanh(matmul(t, weight)); };
  f(x).sum().backward();
  const V expected = values(weight.grad());
  weight.zero_grad();
  autograd::checkpoint(f, x).sum().backward();
  CHECK(values(weight.grad()) == expected);
}

TEST_CASE("A retained graph allows a second backward without another run of the function") {
  int runs = 0;
  const Tensor x = ones({3}, float64).requires_grad_();
  const Tensor y = autograd::checkpoint(
      [&](const Tensor& t) {
        ++runs;
        return exp(t) * t;
      },
      x);
  const V first = values(autograd::grad({y.sum()}, {x}, {}, {.retain_graph = true})[0]);
  CHECK(values(autograd::grad({y.sum()}, {x})[0]) == first);
  CHECK(runs == 2);
}

TEST_CASE("A checkpoint saves only its inputs and frees them in backward") {
  const std::int64_t before = live_memory();
  constexpr std::int64_t kBytes = 1 << 20;
  {
    const Tensor x = ones({kBytes / 8}, float64).requires_grad_();
    const auto chain = [](const Tensor& t) {
      Tensor y = t;
      for (int i = 0; i < 10; ++i) y = tanh(y);
      return y.sum();
    };
    const Tensor plain = chain(x);
    CHECK(live_memory() - before >= 11 * kBytes);
    const std::int64_t with_plain = live_memory();
    const Tensor y = autograd::checkpoint(chain, x);
    // Only the sum itself is in memory.
    CHECK(live_memory() - with_plain < 1024);
    y.backward();
    CHECK(live_memory() - with_plain < kBytes + 1024);  // x.grad
  }
  CHECK(live_memory() == before);
}

TEST_CASE("backward of a checkpoint with a changed input throws and sets no gradient") {
  const Tensor x = ones({2}, float64).requires_grad_();
  const Tensor h = x * 2;
  const Tensor y = autograd::checkpoint([](const Tensor& t) { return exp(t); }, h);
  h.add_(1);
  CHECK_THROWS_MATCHES(y.sum().backward(), AutogradError,
                       says("[checkpoint] a tensor of shape (2,) that was saved for backward was "
                            "changed later by [add_]: its version was 0 and is now 1"));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("backward of a checkpoint throws if its second run saves other tensors") {
  int runs = 0;
  const Tensor x = ones({2}, float64).requires_grad_();
  const Tensor y =
      autograd::checkpoint([&](const Tensor& t) { return ++runs == 1 ? exp(exp(t)) : exp(t); }, x);
  CHECK_THROWS_MATCHES(y.sum().backward(), AutogradError,
                       says("[checkpoint] the function must save the same tensors for backward "
                            "when it runs again, but saved 2 tensors and then 1"));
  CHECK_THROWS_MATCHES(
      autograd::checkpoint(TensorFunction([](const Tensor& t) { return t; }), Tensors{Tensor()}),
      AutogradError, says("[checkpoint] input 0 is undefined"));
}

TEST_CASE("An in-place write to a tensor saved inside a checkpoint is found") {
  const Tensor x = ones({2}, float64).requires_grad_();
  const Tensor y = autograd::checkpoint(
      [](const Tensor& t) {
        const Tensor e = exp(t);
        return e.add_(1) * 2;
      },
      x);
  CHECK_THROWS_MATCHES(y.sum().backward(), AutogradError,
                       says("[checkpoint] a tensor of shape (2,) that was saved for backward was "
                            "changed in place by [add_]"));
}

TEST_CASE("A function may compute gradients inside a checkpoint") {
  const auto f = [](const Tensor& x) {
    const Tensor y = exp(x);
    const Tensor slope = autograd::grad({y.sum()}, {x}, {}, {.create_graph = true})[0];
    return (slope * slope).sum();
  };
  const Tensor x = tensor({0.5, 1}, float64).requires_grad_();
  const Tensor expected = autograd::grad({f(x)}, {x})[0];
  CHECK(values(autograd::grad({autograd::checkpoint(f, x)}, {x})[0]) == values(expected));
}
