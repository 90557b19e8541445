// The strides of results and gradients. PyTorch 2.6 printed the same strides for the same
// expressions.
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"

using namespace tend;

namespace {

struct KeptLayout {
  const char* name;
  Tensor x;
  Shape like;  // strides of x.exp(), x + x, x * 2, x.clone(), x.to(float32) and zeros_like(x)
};

std::vector<KeptLayout> kept_layouts() {
  const auto r = [](const Shape& shape) { return rand(shape, float64); };
  return {
      {"transposed", r({3, 4}).t(), {1, 4}},
      {"permuted", r({2, 3, 4}).permute({2, 0, 1}), {1, 12, 4}},
      {"with gaps", r({3, 8}).slice(1, 0, 8, 2).t(), {1, 4}},
      {"size 1 in the middle", r({3, 1, 4}).permute({2, 1, 0}), {1, 4, 4}},
      {"size 1 first", r({3, 4}).t().unsqueeze(0), {4, 1, 4}},
      {"expanded", r({3, 1}).expand({3, 4}), {4, 1}},
      {"expanded and transposed", r({4, 1}).expand({4, 3}).t(), {4, 1}},
      {"batch inside", r({2, 5, 3}).transpose(0, 1), {3, 15, 1}},
      {"columns", r({4, 6}).narrow(1, 1, 2), {2, 1}},
      {"channels last", r({2, 4, 5, 3}).permute({0, 3, 1, 2}), {60, 1, 15, 3}},
  };
}

}  // namespace

TEST_CASE("elementwise results have the layout of their input") {
  for (const KeptLayout& each : kept_layouts()) {
    INFO(each.name);
    const Tensor& x = each.x;
    CHECK(x.exp().strides() == each.like);
    CHECK((x + x).strides() == each.like);
    CHECK((x * 2).strides() == each.like);
    CHECK(x.clone().strides() == each.like);
    CHECK(x.to(float32).strides() == each.like);
    CHECK(zeros_like(x).strides() == each.like);
    CHECK(empty_like(x, boolean).strides() == each.like);
    CHECK(equal(x.clone(), x));
    CHECK(x.exp().to_vector<double>() == x.contiguous().exp().to_vector<double>());
    CHECK(x.contiguous().is_contiguous());
    CHECK(x.reshape({-1}).is_contiguous());
  }
}

TEST_CASE("the first input that orders two dimensions decides the layout of the result") {
  const Tensor x = rand({3, 4}).t(), c = rand({4, 3}), row = rand({3}), column = rand({4, 1});
  const Shape rows{3, 1}, columns{1, 4};
  CHECK((x + c).strides() == columns);
  CHECK((c + x).strides() == rows);
  CHECK((x + row).strides() == columns);
  CHECK((row + x).strides() == columns);
  CHECK((x + column).strides() == columns);
  CHECK((x < c).strides() == columns);
  CHECK(where(c > 0, x, c).strides() == rows);
  CHECK(where(x > 0, c, c).strides() == columns);
  CHECK(where(x > 0, x, row).strides() == columns);
  CHECK(addcmul(c, x, x).strides() == rows);
  CHECK(addcmul(x, c, c).strides() == columns);
  CHECK(addcmul(row, x, x).strides() == columns);
  CHECK(lerp(x, c, 0.5).strides() == columns);
  CHECK((rand({2, 4, 3}) + x).strides() == Shape{12, 3, 1});
  CHECK((x + rand({2, 4, 3})).strides() == Shape{12, 1, 4});
  CHECK((rand({2, 1, 1}) + x).strides() == Shape{12, 1, 4});
  CHECK((x.unsqueeze(1) + rand({1, 5, 1})).strides() == Shape{1, 4, 20});
  CHECK((column.t() + column).strides() == Shape{4, 1});
  CHECK((x.narrow(1, 0, 1) + row).strides() == rows);
}

TEST_CASE("some operations make row-major results for any layout") {
  const Tensor x = rand({3, 4}).t();
  CHECK(x.softmax(0).is_contiguous());
  CHECK(x.log_softmax(1).is_contiguous());
  CHECK(logsigmoid(x).is_contiguous());
  CHECK(x.tril().is_contiguous());
  CHECK(x.masked_fill(x > 0.5, 0).is_contiguous());
  CHECK(x.exp().reshape({-1}).is_contiguous());
  // A tensor with the strides (1, 4) has no view of shape (12,).
  CHECK_THROWS_AS(x.exp().view({12}), ShapeError);
}

TEST_CASE("rand_like and randn_like fill tensors in memory order") {
  const Tensor x = rand({3, 4}).t();
  manual_seed(1);
  const Tensor uniform = rand_like(x), normal = randn_like(x);
  manual_seed(1);
  CHECK(equal(uniform, rand({3, 4}).t()));
  CHECK(uniform.strides() == x.strides());
  CHECK(normal.strides() == x.strides());
}

TEST_CASE("a gradient has the layout of its leaf or is row-major if the leaf has gaps") {
  const auto gradient = [](const Tensor& elements, bool transposed) {
    Tensor leaf = elements.detach().requires_grad_();
    const Tensor x = transposed ? leaf.t() : leaf;
    const Tensor once = x.exp().sum();
    once.backward({}, true, true);
    const Shape recorded = leaf.grad().strides();
    CHECK(leaf.grad().requires_grad());
    leaf.zero_grad();
    once.backward();
    CHECK(leaf.grad().strides() == recorded);
    CHECK(equal(leaf.grad(), leaf.detach().exp()));
    return leaf.grad().strides();
  };
  for (const bool transposed : {false, true}) {
    CHECK(gradient(rand({4, 3}).t(), transposed) == Shape{1, 3});
    CHECK(gradient(rand({4, 3}), transposed) == Shape{3, 1});
    CHECK(gradient(rand({4, 6}).slice(1, 0, 6, 2).t(), transposed) == Shape{4, 1});
  }
}
