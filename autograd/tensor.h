// Tensor: the one type that users handle.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/indexing.h>
#include <tend/autograd/ops.h>
#include <tend/autograd/tensor_impl.h>
#include <tend/core/array.h>

namespace tend {

/// A handle on elements with an optional history. Copying it copies the handle, as in Python.
/// Methods are PyTorch's; those that have a free function of the same name are documented there
/// (autograd/ops/).
class Tensor {
 public:
  Tensor() noexcept = default;
  /// A tensor over `array`, without history.
  explicit Tensor(Array array);
  explicit Tensor(Ref<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  /// Assigning to a name makes it another handle; assigning to an indexed place, x[{0, 1}] = y,
  /// writes the elements.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  void operator=(const Tensor& value) &&;
  void operator=(const Scalar& value) &&;

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
  std::int64_t dim() const { return array().rank(); }
  std::int64_t size(std::int64_t d) const { return array().size(d); }
  std::int64_t numel() const { return array().numel(); }
  bool is_contiguous() const { return array().is_contiguous(); }

  /// First element; the elements follow by strides(). DTypeError when T is another type.
  template <class T>
  T* data_ptr() const {
    return array().data<T>();
  }
  /// The elements of a contiguous tensor; ShapeError when it is not.
  template <class T>
  std::span<T> span() const {
    if (!is_contiguous())
      fail<ShapeError>("span", "the tensor of shape ", shape(), " is not contiguous");
    return {data_ptr<T>(), static_cast<std::size_t>(numel())};
  }
  /// A copy of all elements, row-major; T must be the element type.
  template <class T>
  std::vector<T> to_vector() const {
    return array().to_vector<T>();
  }
  /// The only element; ShapeError unless there is exactly one.
  template <class T = double>
  T item() const {
    return array().item<T>();
  }

  // Autograd.

  bool requires_grad() const;
  /// AutogradError for a tensor with history, DTypeError unless floating.
  Tensor& requires_grad_(bool value = true);
  bool is_leaf() const;
  /// The accumulated gradient; undefined before the first backward.
  Tensor grad() const;
  void set_grad(const Tensor& gradient);
  void zero_grad() { set_grad({}); }
  /// The name of the operation that made this, nullptr for leaves.
  const char* grad_fn() const;
  /// Keeps the gradient of a tensor that is no leaf; AutogradError when nothing requires grad.
  void retain_grad();
  bool retains_grad() const { return impl_ && impl_->retains_grad; }
  /// tend::backward of this one tensor.
  void backward(const Tensor& gradient = {}, bool retain_graph = false,
                bool create_graph = false) const;
  /// The same elements without history.
  Tensor detach() const;
  /// Makes this handle's elements those of `value` (shared), whatever their shape; a leaf stays a
  /// leaf (x.data = value).
  void set_data(const Tensor& value);
  /// How often the elements were written in place.
  std::uint32_t version() const { return array().storage()->version(); }

  // Indexing. The result is a view.

  Tensor operator[](const Index& index) const { return tend::index(*this, {index}); }
  Tensor operator[](Indices indices) const { return tend::index(*this, indices); }

  /// for (Tensor row : x): the views x[0], x[1], ...
  class RowIterator {
   public:
    RowIterator(const Tensor& tensor, std::int64_t row) : tensor_(&tensor), row_(row) {}
    Tensor operator*() const { return (*tensor_)[row_]; }
    RowIterator& operator++() {
      ++row_;
      return *this;
    }
    bool operator!=(const RowIterator& other) const { return row_ != other.row_; }

   private:
    const Tensor* tensor_;
    std::int64_t row_;
  };
  RowIterator begin() const { return {*this, 0}; }
  RowIterator end() const { return {*this, size(0)}; }

  // Arithmetic. Names that end in _ write in place (autograd/inplace.h).

  Tensor add(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::add(*this, other, alpha);
  }
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::sub(*this, other, alpha);
  }
  Tensor mul(const Tensor& other) const { return tend::mul(*this, other); }
  Tensor div(const Tensor& other) const { return tend::div(*this, other); }
  Tensor neg() const { return tend::neg(*this); }
  const Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& mul_(const Tensor& other) const;
  const Tensor& div_(const Tensor& other) const;
  const Tensor& add_(const Scalar& other) const;
  const Tensor& sub_(const Scalar& other) const;
  const Tensor& mul_(const Scalar& other) const;
  const Tensor& div_(const Scalar& other) const;
  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(const Scalar& value) const;
  const Tensor& zero_() const { return fill_(0); }
  const Tensor& operator+=(const Tensor& other) const { return add_(other); }
  const Tensor& operator-=(const Tensor& other) const { return sub_(other); }
  const Tensor& operator*=(const Tensor& other) const { return mul_(other); }
  const Tensor& operator/=(const Tensor& other) const { return div_(other); }
  const Tensor& operator+=(const Scalar& other) const { return add_(other); }
  const Tensor& operator-=(const Scalar& other) const { return sub_(other); }
  const Tensor& operator*=(const Scalar& other) const { return mul_(other); }
  const Tensor& operator/=(const Scalar& other) const { return div_(other); }

  // Views and shapes.

  Tensor select(std::int64_t d, std::int64_t position) const {
    return tend::select(*this, d, position);
  }
  Tensor slice(std::int64_t d, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
               std::int64_t step = 1) const {
    return tend::slice(*this, d, start, stop, step);
  }
  Tensor narrow(std::int64_t d, std::int64_t start, std::int64_t length) const {
    return tend::narrow(*this, d, start, length);
  }
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const {
    return tend::transpose(*this, dim0, dim1);
  }
  Tensor t() const { return tend::t(*this); }
  Tensor permute(const Shape& dims) const { return tend::permute(*this, dims); }
  Tensor expand(const Shape& sizes) const { return tend::expand(*this, sizes); }
  Tensor view(const Shape& sizes) const { return tend::view(*this, sizes); }
  Tensor reshape(const Shape& sizes) const { return tend::reshape(*this, sizes); }
  Tensor flatten(std::int64_t start = 0, std::int64_t stop = -1) const {
    return tend::flatten(*this, start, stop);
  }
  Tensor squeeze() const { return tend::squeeze(*this); }
  Tensor squeeze(std::int64_t d) const { return tend::squeeze(*this, d); }
  Tensor unsqueeze(std::int64_t d) const { return tend::unsqueeze(*this, d); }
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim0 = 0, std::int64_t dim1 = 1) const {
    return tend::diagonal(*this, offset, dim0, dim1);
  }
  std::vector<Tensor> split(std::int64_t length, std::int64_t d = 0) const {
    return tend::split(*this, length, d);
  }
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t d = 0) const {
    return tend::chunk(*this, chunks, d);
  }
  std::vector<Tensor> unbind(std::int64_t d = 0) const { return tend::unbind(*this, d); }
  Tensor contiguous() const { return tend::contiguous(*this); }
  Tensor clone() const { return tend::clone(*this); }
  Tensor to(DType target) const { return tend::to(*this, target); }

  // Reductions.

  Tensor sum(const Shape& dims = {}, bool keepdim = false) const {
    return tend::sum(*this, dims, keepdim);
  }

  // Products.

  Tensor matmul(const Tensor& other) const { return tend::matmul(*this, other); }
  Tensor dot(const Tensor& other) const { return tend::dot(*this, other); }

 private:
  [[noreturn]] static void fail_undefined();

  Ref<TensorImpl> impl_;
};

/// As torch prints it, "tensor([...], grad_fn=<...>)"; "Parameter containing:\n..." for parameters.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace tend
