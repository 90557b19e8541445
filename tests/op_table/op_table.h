// The operation table. Each row is one call of a public operation, with all that the tests must
// know about this call. The tests in op_table_test.cpp and op_torch_test.cpp go over all rows. To
// add an operation, add a row to its family's file, FAMILY_rows.cpp, and run
// tests/data/make_pytorch.py.
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

/// Describes an input of an operation: its shape and its elements.
struct Input {
  Shape shape;
  DType dtype = float64;
  double low = -2;  // elements are in [low, high]; in [low, high) for int64
  double high = 2;
  double step = 0.01;  // elements are offset + n * step, for whole numbers n
  double offset = 0;
  std::vector<double> kinks = {};  // elements are at least 0.05 away from these
  bool distinct = false;           // no two elements are equal
  bool differentiable = true;

  Input& in(double lowest, double highest) { return low = lowest, high = highest, *this; }
  /// Keeps elements away from points where the function has no derivative.
  Input& off(std::vector<double> points) { return kinks = std::move(points), *this; }
  /// Sets step and offset. Inputs on grid(0.1) and grid(0.1, 0.05) have no element in common.
  Input& grid(double width, double start = 0) { return step = width, offset = start, *this; }
  Input& apart() { return distinct = true, *this; }
  /// Marks an input for which the operation has no gradient, or whose gradient is not tested.
  Input& constant() { return differentiable = false, *this; }
  Input& as(DType other) { return dtype = other, *this; }

  bool has_gradient() const { return differentiable && dtype == float64; }
};

using Sample = std::vector<Input>;

/// A float64 input. The checks also convert it to float32.
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
  std::vector<TensorFunction> call = {};  // at most one; if empty, the row's call is used
};

struct Op {
  std::string name;   // the name of the function in autograd/ops or attention/functions
  std::string torch;  // the same call in Python, with inputs a, b, c and so on, or the list `x`
  TensorFunction call;
  std::string family = {};  // op_table() fills it in
  std::vector<Sample> samples = {};
  std::vector<Refusal> refusals = {};
  std::vector<TensorFunction> in_place_forms = {};  // the in-place form: at most one
  bool in_place_reshapes = false;
  double roundings = 8;     // the error that is allowed in float32, in units of rounding
  bool any_layout = true;   // false if the operation is right to refuse other strides
  bool scales = true;       // all sizes of the first sample may be multiplied by one factor
  double step = 1e-6;       // the step of central differences
  bool differences = true;  // false if the gradient is not the derivative, on purpose
  /// The number of floating-point operations of the call, for benchmarks. Empty if memory limits
  /// the speed.
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
  Op& in_place(TensorFunction f) { return in_place_forms.push_back(std::move(f)), *this; }
  /// Adds an in-place form that changes the shape of its tensor.
  Op& reshaping_in_place(TensorFunction f) {
    in_place_reshapes = true;
    return in_place(std::move(f));
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

// Samples for most operations: matrices, a 0-d tensor, an empty tensor, and more dimensions.

/// Samples for functions of one tensor. The elements are as in `like`.
std::vector<Sample> unary_samples(const Input& like = real({}));
/// Samples for functions of two tensors that broadcast.
std::vector<Sample> binary_samples(const Input& a = real({}), const Input& b = real({}));

/// The values and indices of a result as a list, which is what a row's call returns.
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

/// The layout of the inputs in memory.
enum class Layout { contiguous, transposed, sliced, expanded };
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::transposed, Layout::sliced,
                                      Layout::expanded};
std::string_view layout_name(Layout layout);

/// A row's call on one sample in one layout.
struct Case {
  std::vector<Tensor> inputs;  // leaves; an input with a gradient requires grad
  std::vector<Shape> shapes;   // the shapes to which the leaves are expanded
  TensorFunction op;

  std::vector<Tensor> arguments() const;
  bool has_gradient() const;
  /// The call as a function of the leaves. It expands them first.
  TensorFunction call() const;
};
/// Makes the inputs of a sample in a layout. float64 inputs get the dtype `real`. The elements
/// depend only on the sample, except that an expanded dimension repeats its first slice.
Case make_case(const Op& op, const Sample& sample, Layout layout, DType real = float64);

/// The first sample of a row, enlarged until its largest input has about this number of elements.
/// The default is enough for several threads to share the work.
Sample large_sample(const Op& op, double elements = 1e5);

/// A cotangent for `output`: pseudo-random elements in [-1, 1] with two decimals.
Tensor cotangent_like(const Tensor& output);

}  // namespace tend::test
