// The operation table: one row for every way in which a public operation is checked. Everything in
// op_table_test.cpp and op_torch_test.cpp follows from the rows. To add an operation, add a row to
// its family's file, FAMILY_rows.cpp, and run tests/data/make_pytorch.py.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/autograd/tools/gradcheck.h>

namespace tend::test {

/// How an input of an operation is made: its shape, and what its elements are like.
struct Input {
  Shape shape;
  DType dtype = float64;
  double low = -2;  // elements lie in [low, high]; in [low, high) for int64
  double high = 2;
  double step = 0.01;  // elements are offset + n * step, n a whole number
  double offset = 0;
  std::vector<double> kinks = {};  // elements are at least 0.05 away from these
  bool distinct = false;           // no two elements are equal
  bool differentiable = true;

  Input& in(double lowest, double highest) { return low = lowest, high = highest, *this; }
  /// Keeps elements away from points where the function has no derivative.
  Input& off(std::vector<double> points) { return kinks = std::move(points), *this; }
  /// Two inputs on grid(0.1) and grid(0.1, 0.05) have no element in common.
  Input& grid(double width, double start = 0) { return step = width, offset = start, *this; }
  Input& apart() { return distinct = true, *this; }
  /// An input with respect to which the operation has no gradient, or none is tested.
  Input& constant() { return differentiable = false, *this; }
  Input& as(DType other) { return dtype = other, *this; }

  bool has_gradient() const { return differentiable && dtype == float64; }
};

using Sample = std::vector<Input>;

/// A float64 input; the checks turn it into float32 where they want one.
inline Input real(Shape shape) {
  return {.shape = std::move(shape)};
}
inline Input integers(Shape shape, double low, double high) {
  return {.shape = std::move(shape), .dtype = int64, .low = low, .high = high, .step = 1};
}
inline Input bools(Shape shape) {
  return {.shape = std::move(shape), .dtype = boolean, .low = 0, .high = 1, .step = 1};
}

/// A call that must throw.
struct Refusal {
  std::string message;
  Sample inputs;
  std::vector<TensorFunction> call = {};  // none or one; without it, the row's call
};

struct Op {
  std::string name;  // of the function in autograd/ops, or attention/functions/scaled_dot_product.h
  std::string torch;  // the same call in Python, of the inputs a, b, c, ... or of the list `x`
  TensorFunction call;
  std::string family = {};  // op_table() fills it in
  std::vector<Sample> samples = {};
  std::vector<Refusal> refusals = {};
  std::vector<TensorFunction> twins = {};  // the in-place method: none or one
  bool twin_reshapes = false;
  double roundings = 8;     // in float32: the error allowed, in units of rounding
  bool any_layout = true;   // false where other strides are rightly refused
  bool scales = true;       // the sizes of the first sample may grow by one factor
  double step = 1e-6;       // of central differences
  bool differences = true;  // false where the gradient is rightly not the derivative
  /// Floating-point operations of the call, for benchmarks; empty where memory limits its speed.
  std::function<double(const std::vector<Tensor>& inputs)> flops = {};

  Op& on(std::vector<Sample> more) {
    samples.insert(samples.end(), more.begin(), more.end());
    return *this;
  }
  Op& refuses(std::string message, Sample inputs) {
    refusals.push_back({std::move(message), std::move(inputs), {}});
    return *this;
  }
  Op& refuses(std::string message, Sample inputs, TensorFunction bad) {
    refusals.push_back({std::move(message), std::move(inputs), {std::move(bad)}});
    return *this;
  }
  Op& twin(TensorFunction in_place) { return twins.push_back(std::move(in_place)), *this; }
  /// A twin that gives its tensor another shape.
  Op& reshaping_twin(TensorFunction in_place) {
    twin_reshapes = true;
    return twin(std::move(in_place));
  }
  Op& within(double units) { return roundings = units, *this; }
  Op& contiguous_only() { return any_layout = false, *this; }
  Op& fixed_size() { return scales = false, *this; }
  Op& steps(double size) { return step = size, *this; }
  Op& no_differences() { return differences = false, *this; }
  template <class F>
  Op& takes_flops(F count) {
    return flops = std::move(count), *this;
  }
};

/// The rows of one family.
class Rows {
 public:
  Op& op(std::string name, std::string torch, TensorFunction call) {
    return rows_.emplace_back(Op{std::move(name), std::move(torch), std::move(call)});
  }
  std::vector<Op> take() { return std::move(rows_); }

 private:
  std::vector<Op> rows_;
};

// Samples for most operations: matrices, a 0-d and an empty tensor, more dimensions.

/// For functions of one tensor, made like `like`.
std::vector<Sample> unary_samples(const Input& like = real({}));
/// For functions of two tensors that broadcast.
std::vector<Sample> binary_samples(const Input& a = real({}), const Input& b = real({}));

/// The results of an operation that gives both, as rows have them.
inline std::vector<Tensor> values_and_indices(const ValuesAndIndices& found) {
  return {found.values, found.indices};
}

std::vector<Op> arithmetic_rows();
std::vector<Op> math_rows();
std::vector<Op> activation_rows();
std::vector<Op> compare_rows();
std::vector<Op> masking_rows();
std::vector<Op> views_rows();
std::vector<Op> joining_rows();
std::vector<Op> rearrange_rows();
std::vector<Op> reduce_rows();
std::vector<Op> linalg_rows();
std::vector<Op> decompositions_rows();
std::vector<Op> einsum_rows();
std::vector<Op> indexing_rows();
std::vector<Op> loss_rows();
std::vector<Op> normalization_rows();
std::vector<Op> advanced_indexing_rows();
std::vector<Op> ordering_rows();
std::vector<Op> network_rows();
std::vector<Op> attention_rows();
std::vector<Op> flex_rows();

/// The rows of all families.
const std::vector<Op>& op_table();

/// How the elements of the inputs lie in memory.
enum class Layout { contiguous, transposed, sliced, expanded };
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::transposed, Layout::sliced,
                                      Layout::expanded};
std::string_view layout_name(Layout layout);

/// A row's call on one sample in one layout.
struct Case {
  std::vector<Tensor> inputs;  // leaves; those with a gradient require it
  std::vector<Shape> shapes;   // to which the leaves are expanded
  TensorFunction op;

  std::vector<Tensor> arguments() const;
  bool has_gradient() const;
  /// The call, with the expansions before it, as a function of the leaves.
  TensorFunction call() const;
};
/// float64 inputs get the dtype `real`. Elements depend on the sample alone, except that an
/// expanded dimension repeats its first slice.
Case make_case(const Op& op, const Sample& sample, Layout layout, DType real = float64);

/// The first sample with larger sizes, about so many elements in the largest input. By default
/// these are enough to be shared by several threads.
Sample large_sample(const Op& op, double elements = 1e5);

/// A cotangent for `output`: pseudo-random elements in [-1, 1] with two decimals.
Tensor cotangent_like(const Tensor& output);

}  // namespace tend::test
