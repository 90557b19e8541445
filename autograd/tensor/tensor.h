// Tensor, the type that users work with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/creation_methods.h>
#include <tend/autograd/tensor/elementwise_methods.h>
#include <tend/autograd/tensor/in_place_methods.h>
#include <tend/autograd/tensor/index.h>
#include <tend/autograd/tensor/indexing_methods.h>
#include <tend/autograd/tensor/reductions_methods.h>
#include <tend/autograd/tensor/shapes_methods.h>
#include <tend/autograd/tensor/tensor_impl.h>
#include <tend/core/array/array.h>

namespace tend {

class Indexed;
class RowIterator;
struct ParsedIndex;

/// A handle on elements with an optional history. Copying it copies the handle, as in Python.
///
/// The methods are PyTorch's. The methods that compute are in *_methods.h, by family. The free
/// functions of the same names have their documentation (autograd/ops/).
class Tensor : public methods::Elementwise<Tensor>,
               public methods::Shapes<Tensor>,
               public methods::Indexing<Tensor, ValuesAndIndices, UniqueElements>,
               public methods::Reductions<Tensor, ValuesAndIndices, Extremes>,
               public methods::Creation,
               public methods::InPlace {
 public:
  Tensor() noexcept = default;
  /// Makes an undefined tensor, for parameters that may be missing: layer_norm(x, {3}, None, bias).
  Tensor(NewAxis) noexcept {}
  /// Makes a tensor of the elements of `array`, without history.
  explicit Tensor(Array&& array);
  explicit Tensor(const Array& array) : Tensor(Array(array)) {}
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  /// Makes this variable a handle on the other tensor, without copying elements. Only an assignment
  /// to an index, such as x[{0, 1}] = y, writes elements (see Indexed).
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// Makes a tensor of the indexed elements. Writing to the new tensor changes the original tensor
  /// only if the new tensor is a view.
  Tensor(Indexed&& indexed) noexcept;
  Tensor& operator=(Indexed&& indexed) & noexcept;

  bool defined() const noexcept { return static_cast<bool>(impl_); }
  /// Returns the elements.
  ///
  /// Throws: AutogradError - the tensor is undefined
  const Array& array() const {
    if (!impl_) fail_undefined();
    return impl_->array;
  }
  const Ref<TensorImpl>& impl() const noexcept { return impl_; }

  DType dtype() const { return array().dtype(); }
  const Shape& shape() const { return array().shape(); }
  const Shape& strides() const { return array().strides(); }
  /// Returns shape(), under PyTorch's name.
  const Shape& sizes() const { return shape(); }
  /// Returns the sizes of a tensor of N dimensions: auto [batch, length] = x.sizes<2>().
  ///
  /// Throws: ShapeError - the number of dimensions is not N
  template <std::size_t N>
  std::array<std::int64_t, N> sizes() const {
    if (shape().size() != N)
      fail<ShapeError>("sizes", "the tensor of shape ", shape(), " does not have ", N,
                       " dimensions");
    std::array<std::int64_t, N> all;
    std::copy(shape().begin(), shape().end(), all.begin());
    return all;
  }
  std::int64_t stride(std::int64_t d) const {
    if (dim() == 0) fail<IndexError>("stride", "a 0-d tensor has no dimension ", d);
    return strides()[wrap_dim("stride", d, dim())];
  }
  bool is_floating_point() const { return is_floating(dtype()); }
  std::int64_t dim() const { return array().rank(); }
  std::int64_t ndim() const { return dim(); }
  std::int64_t size(std::int64_t d) const { return array().size(d); }
  std::int64_t numel() const { return array().numel(); }
  bool is_contiguous() const { return array().is_contiguous(); }
  /// Returns the tensor itself, since all tensors are on the CPU.
  ///
  /// Throws: AutogradError - the tensor is undefined
  Tensor cpu() const { return array(), *this; }

  /// Returns a pointer to the first element. The strides lead to the others.
  ///
  /// Throws: DTypeError - T is not the element type
  template <class T>
  T* data_ptr() const {
    return array().data<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Returns the elements of a contiguous tensor as a span.
  ///
  /// Throws:
  ///   DTypeError - T is not the element type
  ///   ShapeError - the tensor is not contiguous
  template <class T>
  std::span<T> span() const {
    if (!is_contiguous())
      fail<ShapeError>("span", "the tensor of shape ", shape(), " is not contiguous");
    return {data_ptr<T>(), static_cast<std::size_t>(numel())};
  }
  /// Copies all elements in row-major order.
  ///
  /// T is the element type. For int64 it may be an integer type of another size.
  ///
  /// Throws:
  ///   DTypeError - T is another type
  ///   IndexError - T cannot hold an element
  template <class T>
  std::vector<T> to_vector() const {
    return array().to_vector<T>();
  }
  /// Returns the only element. If T is floating, the element may be rounded.
  ///
  /// Throws:
  ///   DTypeError - T cannot hold the element
  ///   ShapeError - the tensor does not have exactly one element
  template <class T = double>
  T item() const {
    return array().item<T>();
  }

  // Autograd.

  bool requires_grad() const;
  /// Sets whether the tensor requires grad.
  ///
  /// Throws:
  ///   AutogradError - value is false and the tensor has a history, or the tensor is undefined
  ///   DTypeError    - value is true and the tensor is not floating
  Tensor& requires_grad_(Flag value = true);
  bool is_leaf() const;
  /// Returns the accumulated gradient. It is undefined before the first backward.
  Tensor grad() const;
  /// Makes `gradient` the accumulated gradient, or removes the gradient if `gradient` is undefined.
  ///
  /// The gradient is not copied, and the next backward may add to it in place. The tensor need not
  /// require grad.
  ///
  /// Throws:
  ///   AutogradError - the tensor is undefined, or it and its gradient would keep each other alive
  ///   DTypeError    - the gradient has another dtype than the tensor
  ///   ShapeError    - the gradient has another shape than the tensor
  void set_grad(const Tensor& gradient);
  /// Removes the gradient.
  void zero_grad() { set_grad({}); }
  /// Returns PyTorch's name of the node that made this tensor, such as "AddmmBackward0"; nullptr
  /// for leaves.
  const char* grad_fn() const;
  /// Makes backward save the gradient of a tensor that is not a leaf, so that grad() returns it.
  ///
  /// A backward with inputs saves the gradient only if the tensor is one of these inputs.
  /// autograd::grad never saves it. (In PyTorch, both save it.)
  ///
  /// Throws: AutogradError - the tensor does not require grad
  void retain_grad();
  bool retains_grad() const { return impl_ && impl_->retains_grad; }
  /// Registers a hook, which backward calls with the complete gradient of this tensor.
  ///
  /// If the hook returns a tensor, this replaces the gradient.
  ///
  /// Throws:
  ///   AutogradError - the tensor does not require grad
  ///   Error         - the hook is an empty function
  HookHandle register_hook(TensorHook hook) const;
  /// Calls tend::backward for this tensor.
  void backward(const Tensor& gradient = {}, Flag retain_graph = false,
                Flag create_graph = false) const;
  /// Calls tend::backward, which then adds only to the `.grad` of these inputs.
  void backward(const Tensor& gradient, Flag retain_graph, Flag create_graph,
                const std::vector<Tensor>& inputs) const;
  /// Returns a tensor that shares the elements and has no history.
  Tensor detach() const;
  /// Removes the history of this tensor, which becomes a leaf that does not require grad.
  ///
  /// Throws: AutogradError - the tensor is undefined, or a view that was made in grad mode
  const Tensor& detach_() const;
  /// Makes this tensor share the elements of `value`. All handles of this tensor show the change.
  ///
  /// This is PyTorch's x.data = value. The shape may change. A leaf stays a leaf.
  ///
  /// Throws:
  ///   AutogradError - the tensor is undefined or has a history, or its gradient would no longer
  ///                   fit
  ///   DTypeError    - the tensor requires grad, and the new elements are not floating
  void set_data(const Tensor& value);
  /// Returns the number of in-place writes to the elements.
  std::uint32_t version() const { return array().storage()->version(); }

  /// Indexes the tensor as tend::index does. The result is a view, or a copy if an index is a
  /// tensor. Both can be assigned to.
  Indexed operator[](const Index& index) const;
  Indexed operator[](Indices indices) const;
  /// Indexes by indices that are computed at run time. V is a template parameter so that braces are
  /// not read as a vector.
  template <std::same_as<std::vector<Index>> V>
  Indexed operator[](const V& indices) const;

  /// Iterates over the views x[0], x[1], and so on: for (auto row : x).
  ///
  /// Throws: IndexError - the tensor is 0-d
  RowIterator begin() const;
  RowIterator end() const;

 private:
  Indexed at(std::span<const Index> indices) const;
  [[noreturn]] static void fail_undefined();

  Ref<TensorImpl> impl_;
};

/// The result of x[...], a tensor that can be assigned to while it is a temporary.
///
/// If an index is a tensor, the result is a copy of the elements. An assignment to the result still
/// writes to the elements of x:
///
///     Tensor y = x[{rows}];      // a copy
///     x[{mask}] = 0;             // writes to x
///     x[{rows, columns}] += y;   // reads, adds, writes; of equal indices the last one wins
///
/// Values broadcast. Gradients go to x and to the values. Indexing copies the elements even if they
/// are only assigned to; index_put_ does not.
class Indexed : public Tensor {
 public:
  Indexed(Tensor elements, std::unique_ptr<ParsedIndex> arrays) noexcept;
  Indexed(Indexed&&) noexcept;
  ~Indexed();

  void operator=(const Tensor& value) &&;
  void operator=(const Scalar& value) &&;
  void operator=(const Indexed& value) && { std::move(*this) = static_cast<const Tensor&>(value); }
  using Tensor::operator=;

  // clang-format off
  template <class V> void operator+=(const V& value) && { write_back(Tensor::operator+=(value)); }
  template <class V> void operator-=(const V& value) && { write_back(Tensor::operator-=(value)); }
  template <class V> void operator*=(const V& value) && { write_back(Tensor::operator*=(value)); }
  template <class V> void operator/=(const V& value) && { write_back(Tensor::operator/=(value)); }
  template <class V> void operator%=(const V& value) && { write_back(Tensor::operator%=(value)); }
  template <class V> void operator&=(const V& value) && { write_back(Tensor::operator&=(value)); }
  template <class V> void operator|=(const V& value) && { write_back(Tensor::operator|=(value)); }
  template <class V> void operator^=(const V& value) && { write_back(Tensor::operator^=(value)); }
  // clang-format on
  using Tensor::operator+=, Tensor::operator-=, Tensor::operator*=, Tensor::operator/=;
  using Tensor::operator%=, Tensor::operator&=, Tensor::operator|=, Tensor::operator^=;

 private:
  void write_back(const Tensor& value) const;

  std::unique_ptr<ParsedIndex> parsed_;  // the indices of a copy; null for a view
};

template <std::same_as<std::vector<Index>> V>
Indexed Tensor::operator[](const V& indices) const {
  return at(indices);
}

inline Tensor::Tensor(Indexed&& indexed) noexcept : Tensor(static_cast<Tensor&&>(indexed)) {}
inline Tensor& Tensor::operator=(Indexed&& indexed) & noexcept {
  return *this = static_cast<Tensor&&>(indexed);
}

/// Iterates over the rows of the tensor that it was made from, even if the variable is assigned
/// another tensor meanwhile.
class RowIterator {
 public:
  using value_type = Tensor;
  using difference_type = std::ptrdiff_t;
  using reference = Tensor;
  using pointer = void;
  using iterator_category = std::input_iterator_tag;

  RowIterator() = default;
  RowIterator(Tensor tensor, std::int64_t row) : tensor_(std::move(tensor)), row_(row) {}
  Tensor operator*() const { return tensor_.select(0, row_); }
  RowIterator& operator++() {
    ++row_;
    return *this;
  }
  RowIterator operator++(int) { return {tensor_, row_++}; }
  bool operator==(const RowIterator& other) const { return row_ == other.row_; }

 private:
  Tensor tensor_;
  std::int64_t row_ = 0;
};
inline RowIterator Tensor::begin() const {
  return {*this, 0};
}
inline RowIterator Tensor::end() const {
  return {*this, size(0)};
}

/// Elements along a dimension and their int64 indices: auto [values, indices] = x.max(-1).
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};

/// A tensor or None. Optional parameters need it if another overload accepts braces in their place.
template <class T>
concept TensorOrNone = std::derived_from<T, Tensor> || std::same_as<T, NewAxis>;

/// The smallest and the largest elements: auto [min, max] = aminmax(x).
struct Extremes {
  Tensor min;
  Tensor max;
};

/// The result of tend::unique. The tensors that were not requested are undefined.
struct UniqueElements {
  Tensor values;
  Tensor inverse;
  Tensor counts;
};

/// Formats a tensor as torch prints it: "tensor([...], grad_fn=<...>)".
///
/// A parameter becomes "Parameter containing:\n...", and an undefined tensor "None".
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

inline const Tensor& methods::InPlace::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend
