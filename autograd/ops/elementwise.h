// How elementwise operations run: into a new tensor or, as in-place twins, into self's own
// elements. Also the rows of the tables (math_table.h and others), which have no code of their own.
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

/// Which form of an operation runs.
struct Form {
  const char* operation;  ///< "exp", or "exp_" for the twin: errors and the graph show this name
  bool in_place = false;  ///< the result replaces the elements of the first input
};

/// A write to the elements of the first input, for twins. The caller computes elements() from the
/// inputs, and then gives them to finish() with their history, if any. Nothing is copied, except:
/// - the old elements, if the derivative has saved them
/// - the new elements, if the derivative has saved them, or if they have another dtype than self
/// - other inputs that share memory with self in another layout
class InPlaceRun {
 public:
  /// `saved` is what the derivative saves, `dtype` the result's dtype. Both lists must live as long
  /// as this object. Throws, before anything has changed: ShapeError or DTypeError where the result
  /// does not fit in place of self, and the errors of check_recordable.
  InPlaceRun(const char* operation, DType dtype, TensorRefs inputs, TensorRefs saved);
  InPlaceRun(const InPlaceRun&) = delete;
  InPlaceRun& operator=(const InPlaceRun&) = delete;

  /// Where the kernel writes.
  const Array& elements() const noexcept { return beside_ ? *beside_ : self_.array(); }
  /// What the kernel reads as input i, in its own dtype.
  const Array& input(std::size_t i) { return apart(inputs_.begin()[i].get()->array()); }
  /// `other`, or a copy if the kernel would overwrite its elements before it reads them.
  const Array& apart(const Array& other);

  /// True if the graph gets a node.
  bool is_recorded() const noexcept { return is_recorded_; }
  /// For record(): the arguments of the constructor, with the tensor before the write as self.
  std::vector<TensorRef> inputs() const { return before_write(inputs_); }
  std::vector<TensorRef> saved() const { return before_write(saved_); }

  /// Gives self the elements and the history of `result`, whose array is elements().
  void finish(const Tensor& result);
  /// Without a history.
  void finish();

 private:
  void prepare_record(DType dtype);
  std::vector<TensorRef> before_write(TensorRefs refs) const;

  const char* operation_;
  const Tensor& self_;
  TensorRefs inputs_, saved_;
  bool is_recorded_;
  Tensor before_;                // self before the write, where it is recorded
  std::optional<Array> beside_;  // the elements, where they are not computed in self
  std::forward_list<Array> copies_;
};

/// The in-place form of run(). Not inlined, to keep the other form short.
template <class Kernel, class F>
[[gnu::noinline]] void run_in_place(const char* operation, const char* node, DType dtype,
                                    TensorRefs inputs, TensorRefs saved, Kernel kernel,
                                    F derivative) {
  InPlaceRun twin(operation, dtype, inputs, saved);
  kernel(twin.elements(), [&](std::size_t i) -> const Array& { return twin.input(i); });
  if (twin.is_recorded()) {
    twin.finish(record(node, Array(twin.elements()), twin.inputs(), twin.saved(),
                       std::move(derivative), operation));
  } else {
    twin.finish();
  }
}

/// An operation in either form: allocate() makes the elements of a new tensor, and
/// kernel(out, input) computes them, where input(i) is the array of input i.
template <class Allocate, class Kernel, class F>
Tensor run(const Form& form, const char* node, DType dtype, TensorRefs inputs, TensorRefs saved,
           Allocate allocate, Kernel kernel, F derivative) {
  if (form.in_place) {
    run_in_place(form.operation, node, dtype, inputs, saved, std::move(kernel),
                 std::move(derivative));
    return {};  // self has the result
  }
  Array out = allocate();
  kernel(out, [&](std::size_t i) -> const Array& { return (inputs.begin() + i)->get()->array(); });
  return record(node, std::move(out), std::span(inputs.begin(), inputs.size()),
                std::span(saved.begin(), saved.size()), std::move(derivative), form.operation);
}

/// An array for the result of an elementwise operation, laid out as PyTorch does.
template <class... Inputs>
Array empty_for([[maybe_unused]] const char* operation, DType dtype, const Tensor& a,
                const Inputs&... others) {
  if ((... && (a.shape() == others.shape())))
    return Array::empty_like(a.shape(), dtype, {&a.array(), &others.array()...});
  Shape shape = a.shape();
  ((shape = broadcast_shapes(operation, shape, others.shape())), ...);
  return Array::empty_like(shape, dtype, {&a.array(), &others.array()...});
}

/// kernel(out, inputs...), where the inputs are converted to `dtype` and broadcast.
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

/// An in-place twin: compute(form) runs the operation in the form that writes to self.
template <class F>
const Tensor& twin(const char* operation, const Tensor& self, const F& compute) try {
  check_writable(operation, self);
  compute(Form{operation, true});
  return self;
} catch (const Error&) {
  rename_error(operation);  // kernels name the operation without the underscore
}

// Rows of the tables.

/// In which dtype an operation computes: the inputs' promoted one, or float32 for integers.
enum class Promotion { same, floating };

/// What the derivative of an operation of one input reads.
enum class Saved { nothing, self, result };

/// An operation of one input.
struct UnaryRow {
  const char* node;
  Promotion promotion;
  void (*kernel)(const Array& out, const Array& a);
  Saved saved = Saved::nothing;
  Tensor (*gradient)(const Tensor& grad, const Tensor& saved) = nullptr;
};
Tensor run_row(const Form& form, const UnaryRow& row, const Tensor& self);

/// Which of its inputs a derivative of an operation of two reads.
enum class Reads { nothing, self, other, both };

/// An operation of two inputs, which broadcast, with the gradient of each (null: there is none).
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
/// `node` replaces the row's, where PyTorch has another for numbers.
Tensor run_row(const Form& form, const BinaryRow& row, const Tensor& self, const Tensor& other,
               const char* node = nullptr);

/// The twin of a row.
template <class Row, class... Others>
const Tensor& twin_of_row(const char* operation, const Row& row, const Tensor& self,
                          const Others&... others) {
  return twin(operation, self, [&](const Form& form) { run_row(form, row, self, others...); });
}

// For the gradients of rows.

/// The gradient of a piecewise constant function.
inline Tensor zero_slope(const Tensor& grad) {
  return zeros(grad.shape(), grad.dtype());
}
/// By one kernel, without a graph; a row that uses it has the composed formula, too.
inline Tensor fused(void (*kernel)(const Array& out, const Array& grad, const Array& saved),
                    const Tensor& grad, const Tensor& saved) {
  return fused(grad, [&](const Array& out, const Array& g) { kernel(out, g, saved.array()); });
}
inline Tensor fused(kernels::PairFormula formula, const Tensor& grad, const Tensor& saved) {
  return computed(formula, {}, grad.dtype(), grad, saved);
}

}  // namespace tend
