// Tensor: the one type that users handle.
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
/// Methods are PyTorch's. Those that compute are in *_methods.h, by family; the free functions of
/// the same names have their documentation (autograd/ops/).
class Tensor : public methods::Elementwise<Tensor>,
               public methods::Shapes<Tensor>,
               public methods::Indexing<Tensor, ValuesAndIndices, UniqueElements>,
               public methods::Reductions<Tensor, ValuesAndIndices, Extremes>,
               public methods::Creation,
               public methods::InPlace {
 public:
  Tensor() noexcept = default;
  /// An undefined tensor, for parameters that may be missing: layer_norm(x, {3}, None, bias).
  Tensor(NewAxis) noexcept {}
  /// A tensor over `array`, without history.
  explicit Tensor(Array&& array);
  explicit Tensor(const Array& array) : Tensor(Array(array)) {}
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  /// Assigning to a variable makes it a handle on the other tensor; no element is copied. Only an
  /// assignment to an index, x[{0, 1}] = y, writes elements (see Indexed).
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// Keeps the elements only: writing to the variable does not change the tensor that was indexed,
  /// unless it is a view of that.
  Tensor(Indexed&& indexed) noexcept;
  Tensor& operator=(Indexed&& indexed) & noexcept;

  bool defined() const noexcept { return static_cast<bool>(impl_); }
  /// The elements; AutogradError when undefined.
  const Array& array() const {
    if (!impl_) fail_undefined();
    return impl_->array;
  }
  const Ref<TensorImpl>& impl() const noexcept { return impl_; }

  DType dtype() const { return array().dtype(); }
  const Shape& shape() const { return array().shape(); }
  const Shape& strides() const { return array().strides(); }
  /// PyTorch's name of shape().
  const Shape& sizes() const { return shape(); }
  /// The sizes of a tensor of N dimensions: auto [batch, length] = x.sizes<2>(); ShapeError for
  /// another number of them.
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
  /// The tensor itself: all tensors are on the CPU. AutogradError when undefined.
  Tensor cpu() const { return array(), *this; }

  /// Points to the first element; strides() lead to the others. DTypeError unless T is the element
  /// type.
  template <class T>
  T* data_ptr() const {
    return array().data<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// The elements of a contiguous tensor; ShapeError when it is not.
  template <class T>
  std::span<T> span() const {
    if (!is_contiguous())
      fail<ShapeError>("span", "the tensor of shape ", shape(), " is not contiguous");
    return {data_ptr<T>(), static_cast<std::size_t>(numel())};
  }
  /// A copy of all elements, row-major; T must be the element type (DTypeError), or an integer of
  /// another size for int64 (IndexError for an element that it cannot hold).
  template <class T>
  std::vector<T> to_vector() const {
    return array().to_vector<T>();
  }
  /// The only element; ShapeError unless there is exactly one, DTypeError where T cannot hold it. A
  /// floating T may round.
  template <class T = double>
  T item() const {
    return array().item<T>();
  }

  // Autograd.

  bool requires_grad() const;
  /// Throws:
  ///   DTypeError     - value is true, and the tensor is not floating
  ///   AutogradError  - value is false, and the tensor has a history
  Tensor& requires_grad_(Flag value = true);
  bool is_leaf() const;
  /// The accumulated gradient; undefined before the first backward.
  Tensor grad() const;
  /// Makes `gradient` itself, not a copy, the accumulated gradient, to which the next backward may
  /// add in place; an undefined one removes it. Any tensor takes one, also one that does not
  /// require grad. ShapeError or DTypeError where it does not fit, AutogradError where the tensor
  /// and its gradient would keep each other alive.
  void set_grad(const Tensor& gradient);
  /// Removes the gradient.
  void zero_grad() { set_grad({}); }
  /// PyTorch's name of the node that made this, "AddmmBackward0"; nullptr for leaves.
  const char* grad_fn() const;
  /// Makes backward keep the gradient of a tensor that is no leaf, as grad(); AutogradError for a
  /// tensor that does not require grad. A backward with inputs keeps it where it is one of them;
  /// autograd::grad does not (PyTorch: both do).
  void retain_grad();
  bool retains_grad() const { return impl_ && impl_->retains_grad; }
  /// Calls `hook` with the gradient of this tensor whenever a backward has computed all of it; a
  /// tensor that the hook returns replaces it. AutogradError for a tensor that does not require
  /// grad.
  HookHandle register_hook(TensorHook hook) const;
  /// tend::backward of this one tensor.
  void backward(const Tensor& gradient = {}, Flag retain_graph = false,
                Flag create_graph = false) const;
  /// The same for the `.grad` of these inputs alone.
  void backward(const Tensor& gradient, Flag retain_graph, Flag create_graph,
                const std::vector<Tensor>& inputs) const;
  /// The same elements without history.
  Tensor detach() const;
  /// Removes the history of this tensor itself, which becomes a leaf that does not require grad.
  /// AutogradError for a view made with grad mode.
  const Tensor& detach_() const;
  /// Gives this tensor, for all of its handles, the elements of `value` (shared), whatever their
  /// shape; a leaf stays a leaf (x.data = value). AutogradError for a tensor with history, and for
  /// one whose gradient would no longer fit; DTypeError for elements that are not floating where it
  /// requires grad.
  void set_data(const Tensor& value);
  /// How often the elements were written in place.
  std::uint32_t version() const { return array().storage()->version(); }

  /// tend::index: a view, or a copy where there are tensors among the indices. Either can be
  /// assigned to.
  Indexed operator[](const Index& index) const;
  Indexed operator[](Indices indices) const;
  /// The same with indices that are made while the program runs. (V lets no braces be a vector.)
  template <std::same_as<std::vector<Index>> V>
  Indexed operator[](const V& indices) const;

  /// for (auto row : x): the views x[0], x[1], ... IndexError for a 0-d tensor.
  RowIterator begin() const;
  RowIterator end() const;

 private:
  Indexed at(std::span<const Index> indices) const;
  [[noreturn]] static void fail_undefined();

  Ref<TensorImpl> impl_;
};

/// What x[...] returns: a tensor that can be assigned to as long as it is a temporary. Where there
/// are tensors among the indices it is a copy of the elements, and assignment writes to those that
/// were copied:
///
///     Tensor y = x[{rows}];      // a copy
///     x[{mask}] = 0;             // writes to x
///     x[{rows, columns}] += y;   // as in Python: read, add, write; of equal indices the last wins
///
/// Values broadcast; gradients go to x and to the values. Indexing copies the elements even when
/// they are only assigned to; index_put_ does not.
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

  std::unique_ptr<ParsedIndex> parsed_;  // of a copy; null for a view
};

template <std::same_as<std::vector<Index>> V>
Indexed Tensor::operator[](const V& indices) const {
  return at(indices);
}

inline Tensor::Tensor(Indexed&& indexed) noexcept : Tensor(static_cast<Tensor&&>(indexed)) {}
inline Tensor& Tensor::operator=(Indexed&& indexed) & noexcept {
  return *this = static_cast<Tensor&&>(indexed);
}

/// Goes through the rows of the tensor that it was made from, whatever its variable holds by then.
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

/// Elements and their indices (int64) along a dimension: auto [values, indices] = x.max(-1).
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};

/// A tensor, or None where it may be missing. For parameters beside others that braces fit.
template <class T>
concept TensorOrNone = std::derived_from<T, Tensor> || std::same_as<T, NewAxis>;

/// The smallest and the largest elements: auto [min, max] = aminmax(x).
struct Extremes {
  Tensor min;
  Tensor max;
};

/// What tend::unique returns; the tensors that were not asked for are undefined.
struct UniqueElements {
  Tensor values;
  Tensor inverse;
  Tensor counts;
};

/// As torch prints it, "tensor([...], grad_fn=<...>)"; "Parameter containing:\n..." for parameters,
/// "None" for an undefined one.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

inline const Tensor& methods::InPlace::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend
