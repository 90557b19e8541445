// Checks for every row of the operation table that its errors name an operation.
#include <string>

#include "tests/autograd/support.h"
#include "tests/op_table/op_table.h"

using namespace tend;
using namespace tend::test;

namespace {

using Tensors = std::vector<Tensor>;

// The message of the tend::Error that f throws, or an empty string if f does not throw one.
std::string refusal(const TensorFunction& f, const Tensors& inputs) {
  try {
    f(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// Copies of the inputs. In each copy, one input has another dtype or shape, which may not fit.
std::vector<Tensors> spoiled(const Tensors& inputs) {
  std::vector<Tensors> all;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    Shape longer = x.shape(), other = x.shape();
    longer.insert(0, 2);
    if (!other.empty()) other[0] += 7;
    for (const Tensor& bad :
         {x.to(boolean), x.to(int64), x.to(float32), zeros({}, x.dtype()), zeros({0}, x.dtype()),
          zeros(longer, x.dtype()), zeros(other, x.dtype()), zeros({1, 1, 1, 1}, x.dtype()),
          full({}, x.dtype() == boolean ? Scalar(true) : Scalar(1000), x.dtype())}) {
      all.push_back(inputs);
      all.back()[i] = bad;
    }
  }
  return all;
}

Tensors inputs_of(const Op& op, const Sample& sample) {
  Tensors inputs;
  for (const Tensor& each : make_case(op, sample, Layout::contiguous).arguments())
    inputs.push_back(each.detach().clone());
  return inputs;
}

}  // namespace

TEST_CASE("every error names an operation", "[table]") {
  std::int64_t refused = 0;
  const auto check = [&](const TensorFunction& f, const Tensors& inputs) {
    Tensors own;
    for (const Tensor& each : inputs) own.push_back(each.clone());
    const std::string text = refusal(f, own);
    if (text.empty()) return;
    ++refused;
    INFO(text);
    CHECK(text.front() == '[');
    CHECK(text.find("] ") > 1);
    CHECK(text.find("] ") < 40);
  };
  for (const Op& op : op_table()) {
    INFO(op.name << ": " << op.torch);
    for (const Refusal& bad : op.refusals) {
      const Tensors inputs = inputs_of(op, bad.inputs);
      check(bad.call.empty() ? op.call : bad.call[0], inputs);
      if (bad.call.empty() && !op.in_place_forms.empty()) check(op.in_place_forms[0], inputs);
    }
    for (const Tensors& inputs : spoiled(inputs_of(op, op.samples[0]))) {
      check(op.call, inputs);
      if (!op.in_place_forms.empty()) check(op.in_place_forms[0], inputs);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("errors about impossible shapes name the function that was called") {
  CHECK_THROWS_MATCHES(zeros({-1}), ShapeError, says("[zeros] negative size in (-1,)"));
  CHECK_THROWS_MATCHES(rand({2, -1}), ShapeError, says("[rand] negative size in (2, -1)"));
  CHECK_THROWS_MATCHES(randn({2}, int64), DTypeError,
                       says("[randn] needs float32 or float64, got int64"));
  CHECK_THROWS_MATCHES(multinomial(ones({3}), -2), ShapeError,
                       says("[multinomial] negative size in (-2,)"));
  const std::int64_t large = std::int64_t{1} << 62;
  CHECK_THROWS_MATCHES(
      ones({large, 4}), OutOfMemoryError,
      says("[ones] (4611686018427387904, 4) float32 needs more bytes than an int64 can count"));
  CHECK(zeros({large, 4, 0}).numel() == 0);
}
