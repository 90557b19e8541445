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
  Tensor floor_divide(const Tensor& other) const { return tend::floor_divide(*this, other); }
  Tensor floor_divide(const Scalar& other) const { return tend::floor_divide(*this, other); }
  Tensor remainder(const Tensor& other) const { return tend::remainder(*this, other); }
  Tensor remainder(const Scalar& other) const { return tend::remainder(*this, other); }
  Tensor pow(const Tensor& exponent) const { return tend::pow(*this, exponent); }
  Tensor pow(const Scalar& exponent) const { return tend::pow(*this, exponent); }
  Tensor square() const { return tend::square(*this); }
  Tensor reciprocal() const { return tend::reciprocal(*this); }
  Tensor maximum(const Tensor& other) const { return tend::maximum(*this, other); }
  Tensor minimum(const Tensor& other) const { return tend::minimum(*this, other); }
  Tensor abs() const { return tend::abs(*this); }
  Tensor sign() const { return tend::sign(*this); }
  const Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& mul_(const Tensor& other) const;
  const Tensor& div_(const Tensor& other) const;
  const Tensor& add_(const Scalar& other) const;
  const Tensor& sub_(const Scalar& other) const;
  const Tensor& mul_(const Scalar& other) const;
  const Tensor& div_(const Scalar& other) const;
  const Tensor& floor_divide_(const Tensor& other) const;
  const Tensor& floor_divide_(const Scalar& other) const;
  const Tensor& remainder_(const Tensor& other) const;
  const Tensor& remainder_(const Scalar& other) const;
  const Tensor& pow_(const Tensor& exponent) const;
  const Tensor& pow_(const Scalar& exponent) const;
  const Tensor& square_() const;
  const Tensor& reciprocal_() const;
  const Tensor& neg_() const;
  const Tensor& abs_() const;
  const Tensor& sign_() const;
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

  // Functions of one variable.

  Tensor exp() const { return tend::exp(*this); }
  Tensor expm1() const { return tend::expm1(*this); }
  Tensor log() const { return tend::log(*this); }
  Tensor log1p() const { return tend::log1p(*this); }
  Tensor sqrt() const { return tend::sqrt(*this); }
  Tensor rsqrt() const { return tend::rsqrt(*this); }
  Tensor sin() const { return tend::sin(*this); }
  Tensor cos() const { return tend::cos(*this); }
  Tensor tan() const { return tend::tan(*this); }
  Tensor tanh() const { return tend::tanh(*this); }
  Tensor sigmoid() const { return tend::sigmoid(*this); }
  Tensor erf() const { return tend::erf(*this); }
  Tensor floor() const { return tend::floor(*this); }
  Tensor ceil() const { return tend::ceil(*this); }
  Tensor round() const { return tend::round(*this); }
  Tensor trunc() const { return tend::trunc(*this); }
  Tensor relu() const { return tend::relu(*this); }
  Tensor softmax(std::int64_t d) const { return tend::softmax(*this, d); }
  Tensor log_softmax(std::int64_t d) const { return tend::log_softmax(*this, d); }
  const Tensor& exp_() const;
  const Tensor& expm1_() const;
  const Tensor& log_() const;
  const Tensor& log1p_() const;
  const Tensor& sqrt_() const;
  const Tensor& rsqrt_() const;
  const Tensor& sin_() const;
  const Tensor& cos_() const;
  const Tensor& tan_() const;
  const Tensor& tanh_() const;
  const Tensor& sigmoid_() const;
  const Tensor& erf_() const;
  const Tensor& floor_() const;
  const Tensor& ceil_() const;
  const Tensor& round_() const;
  const Tensor& trunc_() const;
  const Tensor& relu_() const;

  // Comparison and logic.

  Tensor eq(const Tensor& other) const { return tend::eq(*this, other); }
  Tensor eq(const Scalar& other) const { return tend::eq(*this, other); }
  Tensor ne(const Tensor& other) const { return tend::ne(*this, other); }
  Tensor ne(const Scalar& other) const { return tend::ne(*this, other); }
  Tensor lt(const Tensor& other) const { return tend::lt(*this, other); }
  Tensor lt(const Scalar& other) const { return tend::lt(*this, other); }
  Tensor le(const Tensor& other) const { return tend::le(*this, other); }
  Tensor le(const Scalar& other) const { return tend::le(*this, other); }
  Tensor gt(const Tensor& other) const { return tend::gt(*this, other); }
  Tensor gt(const Scalar& other) const { return tend::gt(*this, other); }
  Tensor ge(const Tensor& other) const { return tend::ge(*this, other); }
  Tensor ge(const Scalar& other) const { return tend::ge(*this, other); }
  Tensor logical_and(const Tensor& other) const { return tend::logical_and(*this, other); }
  Tensor logical_or(const Tensor& other) const { return tend::logical_or(*this, other); }
  Tensor logical_xor(const Tensor& other) const { return tend::logical_xor(*this, other); }
  Tensor logical_not() const { return tend::logical_not(*this); }
  Tensor isnan() const { return tend::isnan(*this); }
  Tensor isinf() const { return tend::isinf(*this); }
  Tensor isfinite() const { return tend::isfinite(*this); }
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 bool equal_nan = false) const {
    return tend::isclose(*this, other, rtol, atol, equal_nan);
  }
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const {
    return tend::allclose(*this, other, rtol, atol, equal_nan);
  }
  bool equal(const Tensor& other) const { return tend::equal(*this, other); }

  // Choosing elements.

  Tensor where(const Tensor& condition, const Tensor& other) const {
    return tend::where(condition, *this, other);
  }
  Tensor where(const Tensor& condition, const Scalar& other) const {
    return tend::where(condition, *this, other);
  }
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const {
    return tend::masked_fill(*this, mask, value);
  }
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const {
    return tend::masked_fill(*this, mask, value);
  }
  Tensor tril(std::int64_t diagonal = 0) const { return tend::tril(*this, diagonal); }
  Tensor triu(std::int64_t diagonal = 0) const { return tend::triu(*this, diagonal); }
  Tensor clamp(const std::optional<Scalar>& lo,
               const std::optional<Scalar>& hi = std::nullopt) const {
    return tend::clamp(*this, lo, hi);
  }
  const Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  const Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  const Tensor& tril_(std::int64_t diagonal = 0) const;
  const Tensor& triu_(std::int64_t diagonal = 0) const;
  const Tensor& clamp_(const std::optional<Scalar>& lo,
                       const std::optional<Scalar>& hi = std::nullopt) const;

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

  Tensor sum(const Dims& dims = {}, bool keepdim = false) const {
    return tend::sum(*this, dims, keepdim);
  }
  Tensor mean(const Dims& dims = {}, bool keepdim = false) const {
    return tend::mean(*this, dims, keepdim);
  }
  Tensor prod(const Dims& dims = {}, bool keepdim = false) const {
    return tend::prod(*this, dims, keepdim);
  }
  Tensor var(const Dims& dims = {}, double correction = 1, bool keepdim = false) const {
    return tend::var(*this, dims, correction, keepdim);
  }
  Tensor std(const Dims& dims = {}, double correction = 1, bool keepdim = false) const {
    return tend::std(*this, dims, correction, keepdim);
  }
  Tensor max() const { return tend::max(*this); }
  Tensor min() const { return tend::min(*this); }
  ValuesAndIndices max(std::int64_t d, bool keepdim = false) const;
  ValuesAndIndices min(std::int64_t d, bool keepdim = false) const;
  Tensor amax(const Dims& dims = {}, bool keepdim = false) const {
    return tend::amax(*this, dims, keepdim);
  }
  Tensor amin(const Dims& dims = {}, bool keepdim = false) const {
    return tend::amin(*this, dims, keepdim);
  }
  Tensor argmax(std::optional<std::int64_t> d = std::nullopt, bool keepdim = false) const {
    return tend::argmax(*this, d, keepdim);
  }
  Tensor argmin(std::optional<std::int64_t> d = std::nullopt, bool keepdim = false) const {
    return tend::argmin(*this, d, keepdim);
  }
  Tensor any(const Dims& dims = {}, bool keepdim = false) const {
    return tend::any(*this, dims, keepdim);
  }
  Tensor all(const Dims& dims = {}, bool keepdim = false) const {
    return tend::all(*this, dims, keepdim);
  }
  Tensor cumsum(std::int64_t d) const { return tend::cumsum(*this, d); }

  // Places named by int64 tensors.

  Tensor gather(std::int64_t d, const Tensor& positions) const {
    return tend::gather(*this, d, positions);
  }
  Tensor scatter_add(std::int64_t d, const Tensor& positions, const Tensor& source) const {
    return tend::scatter_add(*this, d, positions, source);
  }
  Tensor index_select(std::int64_t d, const Tensor& positions) const {
    return tend::index_select(*this, d, positions);
  }
  Tensor index_add(std::int64_t d, const Tensor& positions, const Tensor& source) const {
    return tend::index_add(*this, d, positions, source);
  }
  ValuesAndIndices sort(std::int64_t d = -1, bool descending = false) const;
  ValuesAndIndices topk(std::int64_t k, std::int64_t d = -1, bool largest = true) const;

  // Random numbers, drawn in the order in which the elements lie in memory (autograd/ops/random.h).

  /// Uniform on [low, high).
  const Tensor& uniform_(double low = 0, double high = 1,
                         Generator& generator = default_generator()) const;
  const Tensor& normal_(double mean = 0, double std = 1,
                        Generator& generator = default_generator()) const;
  /// 1 with probability p, else 0; p may be a tensor that broadcasts.
  const Tensor& bernoulli_(double p = 0.5, Generator& generator = default_generator()) const;
  const Tensor& bernoulli_(const Tensor& p, Generator& generator = default_generator()) const;
  /// Exponential of rate lambda > 0.
  const Tensor& exponential_(double lambda = 1, Generator& generator = default_generator()) const;

  // Products.

  Tensor matmul(const Tensor& other) const { return tend::matmul(*this, other); }
  Tensor dot(const Tensor& other) const { return tend::dot(*this, other); }
  Tensor mm(const Tensor& other) const { return tend::mm(*this, other); }
  Tensor mv(const Tensor& other) const { return tend::mv(*this, other); }
  Tensor bmm(const Tensor& other) const { return tend::bmm(*this, other); }
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
               const Scalar& alpha = 1) const {
    return tend::addmm(*this, mat1, mat2, beta, alpha);
  }

 private:
  [[noreturn]] static void fail_undefined();

  Ref<TensorImpl> impl_;
};

/// Elements and the places (int64) along a dimension that they come from:
/// auto [values, indices] = x.max(-1).
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};

inline ValuesAndIndices Tensor::max(std::int64_t d, bool keepdim) const {
  return tend::max(*this, d, keepdim);
}
inline ValuesAndIndices Tensor::min(std::int64_t d, bool keepdim) const {
  return tend::min(*this, d, keepdim);
}
inline ValuesAndIndices Tensor::sort(std::int64_t d, bool descending) const {
  return tend::sort(*this, d, descending);
}
inline ValuesAndIndices Tensor::topk(std::int64_t k, std::int64_t d, bool largest) const {
  return tend::topk(*this, k, d, largest);
}

/// As torch prints it, "tensor([...], grad_fn=<...>)"; "Parameter containing:\n..." for parameters,
/// "None" for an undefined one.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace tend
