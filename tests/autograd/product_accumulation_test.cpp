// Sums of gradients of matrix products, during the backward pass and in `.grad`.
#include <stdexcept>

#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/node_hook.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

// Whole numbers, whose sums are exact in any order.
Tensor whole(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return randint(-9, 10, shape, float64, generator);
}

Tensor whole_leaf(const Shape& shape, std::uint64_t seed) {
  return whole(shape, seed).requires_grad_();
}

// Products whose weights are much larger than a batch of three.
struct Wide {
  Tensor of_linear = whole_leaf({64, 80}, 1);
  Tensor of_mm = whole_leaf({64, 72}, 2);
  Tensor of_addmm = whole_leaf({72, 80}, 3);
  Tensor batched = whole_leaf({2, 80, 64}, 4);  // one matrix for each of the two batch entries

  Tensor operator()(const Tensor& x) const {
    const Tensor first = matmul(linear(x, of_linear, {}), of_mm);
    const Tensor second = addmm(x, first, of_addmm, 2, -3);
    return matmul(stack({x, second}), batched).sum();
  }
  std::vector<Tensor> weights() const { return {of_linear, of_mm, of_addmm, batched}; }
};

Tensor batch(std::uint64_t seed) {
  return whole({3, 80}, 10 + seed);
}

std::vector<Tensor> copies_of_grads(const Wide& wide) {
  std::vector<Tensor> copies;
  for (const Tensor& weight : wide.weights()) copies.push_back(weight.grad().clone());
  return copies;
}

// The sums of the gradients of both batches, computed without `.grad`.
std::vector<Tensor> expected_sums(const Wide& wide) {
  const auto first = autograd::grad({wide(batch(0))}, wide.weights());
  auto sums = autograd::grad({wide(batch(1))}, wide.weights());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i] + first[i];
  return sums;
}

void check_grads(const Wide& wide, const std::vector<Tensor>& expected) {
  const auto weights = wide.weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CAPTURE(i);
    CHECK(equal(weights[i].grad(), expected[i]));
  }
}

}  // namespace

TEST_CASE("the gradient of a tensor in several products is the sum of their gradients") {
  for (const Shape& shape : {Shape{50, 70}, Shape{3, 20, 70}}) {
    CAPTURE(shape);
    const Tensor x = whole_leaf(shape, 1), w = whole_leaf({70, 40}, 2), v = whole_leaf({40, 70}, 3);
    const Tensor inner_x = x * 1, inner_w = w * 1;
    const std::vector<Tensor> products = {
        matmul(inner_x, inner_w), linear(inner_x, v, {}) * 2, matmul(inner_x, inner_w * 3),
        linear(inner_x * 2, inner_w.t(), {}), matmul(inner_x, inner_w)};
    Tensor all = zeros(products[0].shape(), float64);
    std::vector<Tensor> expected;
    for (const Tensor& each : products) {
      all = all + each;
      const auto own =
          autograd::grad({each.sum()}, {x, w}, {}, {.retain_graph = true, .allow_unused = true});
      for (std::size_t i = 0; i < 2; ++i) {
        if (!own[i].defined()) continue;
        if (expected.size() <= i) {
          expected.push_back(own[i]);
        } else {
          expected[i] = expected[i] + own[i];
        }
      }
    }
    const auto got = autograd::grad({all.sum()}, {x, w});
    for (std::size_t i = 0; i < 2; ++i) CHECK(equal(got[i], expected[i]));
  }
}

TEST_CASE("gradients of products are added to grad in place") {
  const Wide wide;
  const std::vector<Tensor> expected = expected_sums(wide);
  wide(batch(0)).backward();
  const std::vector<Tensor> grads = {wide.of_linear.grad(), wide.of_mm.grad(), wide.of_addmm.grad(),
                                     wide.batched.grad()};
  const std::uint32_t version = grads[0].version();
  wide(batch(1)).backward();
  check_grads(wide, expected);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    CHECK(wide.weights()[i].grad().impl() == grads[i].impl());
  }
  CHECK(grads[0].version() > version);
}

TEST_CASE("a product and other parts of the same gradient are summed in grad") {
  const Tensor w = whole_leaf({64, 80}, 1), x = whole({3, 80}, 2), y = whole({3, 80}, 3);
  const auto loss = [&](int parts) {
    Tensor sum = linear(x, w, {}).sum();
    if (parts > 1) sum = sum + linear(y, w, {}).sum() * 2;
    if (parts > 2) sum = (w * 3).sum() + sum;
    if (parts > 3) sum = linear(x + y, w, {}).sum() + sum;
    return sum;
  };
  const int parts = GENERATE(1, 2, 3, 4);
  const Tensor once = autograd::grad({loss(parts)}, {w})[0];
  loss(parts).backward();
  CHECK(equal(w.grad(), once));
  loss(parts).backward();
  CHECK(equal(w.grad(), once * 2));
}

TEST_CASE("hooks see and may replace a gradient of a product before it is added to grad") {
  const Tensor w = whole_leaf({64, 80}, 1), x = whole({3, 80}, 2);
  const Tensor once = autograd::grad({linear(x, w, {}).sum()}, {w})[0];
  linear(x, w, {}).sum().backward();
  Tensor seen;
  const auto handle = w.register_hook([&](const Tensor& gradient) {
    seen = gradient;
    return gradient * 10;
  });
  linear(x, w, {}).sum().backward();
  CHECK(equal(seen, once));
  CHECK(equal(w.grad(), once * 11));
}

TEST_CASE("a backward that fails does not change any grad") {
  const Wide wide;
  wide(batch(0)).backward();
  const std::vector<Tensor> before = copies_of_grads(wide);
  const auto fail = [](const Tensor&) { throw std::runtime_error("a hook fails"); };
  SECTION("the hook of a tensor fails after the products") {
    const Tensor x = batch(1).requires_grad_();
    const Tensor y = x * 1;
    y.register_hook(fail);
    CHECK_THROWS_AS(wide(y).backward(), std::runtime_error);
  }
  SECTION("the hook of one of the leaves fails") {
    const std::size_t failing = GENERATE(0U, 1U, 2U, 3U);
    for (std::size_t i = 0; i < 4; ++i) {
      wide.weights()[i].register_hook([=](const Tensor& gradient) {
        if (i == failing) fail(gradient);
      });
    }
    CHECK_THROWS_AS(wide(batch(1)).backward(), std::runtime_error);
  }
  check_grads(wide, before);
}

TEST_CASE("gradients of products with create_graph are added to grad with their graph") {
  const Tensor w = whole_leaf({64, 80}, 1), x = whole_leaf({3, 80}, 2);
  linear(x, w, {}).sum().backward();
  linear(x, w, {}).square().sum().backward({}, false, true);
  REQUIRE(w.grad().requires_grad());
  const Tensor slope = autograd::grad({w.grad().sum()}, {x})[0];
  const Tensor alone =
      autograd::grad({linear(x, w, {}).square().sum()}, {w}, {}, {.create_graph = true})[0];
  CHECK(equal(slope, autograd::grad({alone.sum()}, {x})[0]));
}
