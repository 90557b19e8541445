// Runs elementwise operations. The result goes to a new tensor or, in place, to self's elements.
// Operations that are only rows of a table (math_table.h and others) also run here.
#pragma once

#include <cstddef>
#include <forward_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/helpers.h>

namespace tend {

/// The form in which an operation runs: out of place or in place.
struct Form {
  const char* operation;  ///< "exp", or "exp_" in place; errors and the graph show this name
  bool in_place = false;  ///< the result replaces the elements of the first input
};

/// Runs an in-place form, which writes to the elements of the first input.
///
/// The caller computes elements() from the inputs, and then passes them to finish(), together with
/// their history if there is one. Nothing is copied, except:
/// - the old elements, if the derivative has saved them
/// - the new elements, if the derivative has saved them, or if they have another dtype than self
/// - other inputs that share memory with self in another layout
class InPlaceRun {
 public:
  /// `saved` are the tensors that the derivative saves, and `dtype` is the result's dtype. Both
  /// lists must outlive this object. The constructor checks everything before anything changes.
  ///
  /// Throws:
  ///   ShapeError - the result does not have self's shape, or check_recordable refuses self
  ///   DTypeError - the result's dtype is of a higher category than self's
  InPlaceRun(const char* operation, DType dtype, TensorRefs inputs, TensorRefs saved);
  InPlaceRun(const InPlaceRun&) = delete;
  InPlaceRun& operator=(const InPlaceRun&) = delete;

  /// The array to which the kernel writes.
  const Array& elements() const noexcept { return beside_ ? *beside_ : self_.array(); }
  /// The array that the kernel reads as input i, in the input's dtype.
  const Array& input(std::size_t i) { return apart(inputs_.begin()[i].get()->array()); }
  /// `other`, or a copy if the kernel would overwrite its elements before it reads them.
  const Array& apart(const Array& other);

  /// True if the graph gets a node.
  bool is_recorded() const noexcept { return is_recorded_; }
  /// The inputs and saved tensors of the constructor, for record(). self is replaced by a tensor
  /// that has self's history from before the write.
  std::vector<TensorRef> inputs() const { return before_write(inputs_); }
  std::vector<TensorRef> saved() const { return before_write(saved_); }

  /// Gives self the elements and the history of `result`, whose array is elements().
  void finish(const Tensor& result);
  /// Ends a write that has no history.
  void finish();

 private:
  void prepare_record(DType dtype);
  std::vector<TensorRef> before_write(TensorRefs refs) const;

  const char* operation_;
  const Tensor& self_;
  TensorRefs inputs_, saved_;
  bool is_recorded_;
  Tensor before_;                // self before the write, if it is recorded
  std::optional<Array> beside_;  // the elements, if they are not computed in self's own memory
  std::forward_list<Array> copies_;
};

/// The in-place form of run(). It is not inlined, so that run() stays short.
template <class Kernel, class F>
[[gnu::noinline]] void run_in_place(const char* operation, const char* node, DType dtype,
                                    TensorRefs inputs, TensorRefs saved, Kernel kernel,
                                    F derivative) {
  InPlaceRun pending(operation, dtype, inputs, saved);
  kernel(pending.elements(), [&](std::size_t i) -> const Array& { return pending.input(i); });
  if (pending.is_recorded()) {
    pending.finish(record(node, Array(pending.elements()), pending.inputs(), pending.saved(),
                          std::move(derivative), operation));
  } else {
    pending.finish();
  }
}

/// Runs an operation in either form. allocate() creates the array of a new tensor. kernel(out,
/// input) computes the elements, where input(i) is the array of input i.
template <class Allocate, class Kernel, class F>
Tensor run(const Form& form, const char* node, DType dtype, TensorRefs inputs, TensorRefs saved,
           Allocate allocate, Kernel kernel, F derivative) {
  if (form.in_place) {
    run_in_place(form.operation, node, dtype, inputs, saved, std::move(kernel),
                 std::move(derivative));
    return {};  // the result is in self
  }
  Array out = allocate();
  kernel(out, [&](std::size_t i) -> const Array& { return (inputs.begin() + i)->get()->array(); });
  return record(node, std::move(out), std::span(inputs.begin(), inputs.size()),
                std::span(saved.begin(), saved.size()), std::move(derivative), form.operation);
}

/// Allocates the result of an elementwise operation, with the layout that PyTorch chooses.
template <class... Inputs>
Array empty_for([[maybe_unused]] const char* operation, DType dtype, const Tensor& a,
                const Inputs&... others) {
  if ((... && (a.shape() == others.shape())))
    return Array::empty_like(a.shape(), dtype, {&a.array(), &others.array()...});
  Shape shape = a.shape();
  ((shape = broadcast_shapes(operation, shape, others.shape())), ...);
  return Array::empty_like(shape, dtype, {&a.array(), &others.array()...});
}

/// Runs kernel(out, inputs...), with the inputs converted to `dtype` and broadcast.
template <class Kernel, class F, class... Inputs>
Tensor elementwise(const Form& form, const char* node, DType dtype, Kernel kernel, TensorRefs saved,
                   F derivative, const Inputs&... inputs) {
  const auto allocate = [&] { return empty_for(form.operation, dtype, inputs...); };
  const auto compute = [&]<std::size_t... I>(std::index_sequence<I...>, const Array& out,
                                             const auto& input) {
    kernel(out, AsDtype(input(I), dtype)...);
  };
  return run(
      form, node, dtype, {inputs...}, saved, allocate,
      [&](const Array& out, const auto& input) {
        compute(std::index_sequence_for<Inputs...>(), out, input);
      },
      std::move(derivative));
}

/// Runs the in-place form of an operation: compute(form) writes to self.
template <class F>
const Tensor& in_place_form(const char* operation, const Tensor& self, const F& compute) try {
  check_writable(operation, self);
  compute(Form{operation, true});
  return self;
} catch (const Error&) {
  rename_error(operation);  // kernels do not know the underscore of the name
}

// Rows of the tables.

/// The dtype in which an operation computes. same: the dtype to which its inputs promote. floating:
/// also this dtype, but float32 instead of int64 and bool.
enum class Promotion { same, floating };

/// The tensor that the derivative of an operation with one input reads.
enum class Saved { nothing, self, result };

/// A row for an operation with one input.
struct UnaryRow {
  const char* node;
  Promotion promotion;
  void (*kernel)(const Array& out, const Array& a);
  Saved saved = Saved::nothing;
  Tensor (*gradient)(const Tensor& grad, const Tensor& saved) = nullptr;
};
Tensor run_row(const Form& form, const UnaryRow& row, const Tensor& self);

/// The inputs that a derivative of an operation with two inputs reads.
enum class Reads { nothing, self, other, both };

/// A row for an operation with two inputs, which broadcast. The gradients are null if the operation
/// has no derivative.
struct BinaryRow {
  using Gradient = Tensor (*)(const Tensor& grad, const Tensor& self, const Tensor& other);
  const char* node;
  Promotion promotion;
  void (*kernel)(const Array& out, const Array& a, const Array& b);
  Reads for_self = Reads::nothing;
  Gradient self_gradient = nullptr;
  Reads for_other = Reads::nothing;
  Gradient other_gradient = nullptr;
};
/// Runs a row. `node` replaces the row's node, for operations that PyTorch names differently for
/// numbers.
Tensor run_row(const Form& form, const BinaryRow& row, const Tensor& self, const Tensor& other,
               const char* node = nullptr);

/// Runs the in-place form of a row.
template <class Row, class... Others>
const Tensor& in_place_form_of_row(const char* operation, const Row& row, const Tensor& self,
                                   const Others&... others) {
  return in_place_form(operation, self,
                       [&](const Form& form) { run_row(form, row, self, others...); });
}

// For the gradients of rows.

/// The gradient of a piecewise constant function.
inline Tensor zero_slope(const Tensor& grad) {
  return zeros(grad.shape(), grad.dtype());
}
/// A gradient that one kernel computes without a graph. A row that uses it also has the composed
/// formula.
inline Tensor fused(void (*kernel)(const Array& out, const Array& grad, const Array& saved),
                    const Tensor& grad, const Tensor& saved) {
  return fused(grad, [&](const Array& out, const Array& g) { kernel(out, g, saved.array()); });
}
inline Tensor fused(kernels::PairFormula formula, const Tensor& grad, const Tensor& saved) {
  return computed(formula, {}, grad.dtype(), grad, saved);
}

}  // namespace tend
