#include <tend/autograd/tensor/shapes_methods.h>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/tensor.h>

namespace tend::methods {

Tensor Shapes::select(std::int64_t d, std::int64_t position) const {
  return tend::select(self(), d, position);
}
Tensor Shapes::slice(std::int64_t d, std::optional<Integer> start, std::optional<Integer> stop,
                     std::int64_t step) const {
  return tend::slice(self(), d, start, stop, step);
}
Tensor Shapes::narrow(std::int64_t d, std::int64_t start, std::int64_t length) const {
  return tend::narrow(self(), d, start, length);
}
Tensor Shapes::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return tend::transpose(self(), dim0, dim1);
}
Tensor Shapes::swapaxes(std::int64_t dim0, std::int64_t dim1) const {
  return tend::swapaxes(self(), dim0, dim1);
}
Tensor Shapes::t() const {
  return tend::t(self());
}
Tensor Shapes::T() const {
  Shape dims;
  for (std::int64_t d = self().dim() - 1; d >= 0; --d) dims.push_back(d);
  return tend::permute(self(), dims);
}
Tensor Shapes::mT() const {
  if (self().dim() < 2) fail<IndexError>("mT", "needs two dimensions, got ", self().shape());
  return tend::transpose(self(), -2, -1);
}
Tensor Shapes::to(const Tensor& other) const {
  return tend::to(self(), other.dtype());
}
Tensor Shapes::type_as(const Tensor& other) const {
  return tend::to(self(), other.dtype());
}
Tensor Shapes::permute(const Shape& dims) const {
  return tend::permute(self(), dims);
}
Tensor Shapes::movedim(std::int64_t source, std::int64_t destination) const {
  return tend::movedim(self(), source, destination);
}
Tensor Shapes::movedim(const Shape& source, const Shape& destination) const {
  return tend::movedim(self(), source, destination);
}
Tensor Shapes::expand(const Shape& sizes) const {
  return tend::expand(self(), sizes);
}
Tensor Shapes::expand_as(const Tensor& other) const {
  return tend::expand_as(self(), other);
}
Tensor Shapes::broadcast_to(const Shape& sizes) const {
  return tend::broadcast_to(self(), sizes);
}
Tensor Shapes::view(const Shape& sizes) const {
  return tend::view(self(), sizes);
}
Tensor Shapes::view_as(const Tensor& other) const {
  return tend::view_as(self(), other);
}
Tensor Shapes::reshape(const Shape& sizes) const {
  return tend::reshape(self(), sizes);
}
Tensor Shapes::reshape_as(const Tensor& other) const {
  return tend::reshape_as(self(), other);
}
Tensor Shapes::flatten(std::int64_t start, std::int64_t stop) const {
  return tend::flatten(self(), start, stop);
}
Tensor Shapes::unflatten(std::int64_t d, const Shape& sizes) const {
  return tend::unflatten(self(), d, sizes);
}
Tensor Shapes::squeeze() const {
  return tend::squeeze(self());
}
Tensor Shapes::squeeze(std::int64_t d) const {
  return tend::squeeze(self(), d);
}
Tensor Shapes::squeeze(const Shape& dims) const {
  return tend::squeeze(self(), dims);
}
Tensor Shapes::unsqueeze(std::int64_t d) const {
  return tend::unsqueeze(self(), d);
}
Tensor Shapes::diagonal(std::int64_t offset, std::int64_t dim0, std::int64_t dim1) const {
  return tend::diagonal(self(), offset, dim0, dim1);
}
Tensor Shapes::unfold(std::int64_t d, std::int64_t length, std::int64_t step) const {
  return tend::unfold(self(), d, length, step);
}
std::vector<Tensor> Shapes::split(std::int64_t length, std::int64_t d) const {
  return tend::split(self(), length, d);
}
std::vector<Tensor> Shapes::split(const Shape& lengths, std::int64_t d) const {
  return tend::split(self(), lengths, d);
}
std::vector<Tensor> Shapes::chunk(std::int64_t chunks, std::int64_t d) const {
  return tend::chunk(self(), chunks, d);
}
std::vector<Tensor> Shapes::tensor_split(std::int64_t sections, std::int64_t d) const {
  return tend::tensor_split(self(), sections, d);
}
std::vector<Tensor> Shapes::tensor_split(const Shape& indices, std::int64_t d) const {
  return tend::tensor_split(self(), indices, d);
}
std::vector<Tensor> Shapes::tensor_split(const Tensor& indices_or_sections, std::int64_t d) const {
  return tend::tensor_split(self(), indices_or_sections, d);
}
std::vector<Tensor> Shapes::tensor_split(std::initializer_list<std::int64_t> indices,
                                         std::int64_t d) const {
  return tend::tensor_split(self(), indices, d);
}
std::vector<Tensor> Shapes::unbind(std::int64_t d) const {
  return tend::unbind(self(), d);
}
Tensor Shapes::flip(const Shape& dims) const {
  return tend::flip(self(), dims);
}
Tensor Shapes::roll(std::int64_t shift, std::optional<Integer> d) const {
  return tend::roll(self(), shift, d);
}
Tensor Shapes::roll(const Shape& shifts, const Shape& dims) const {
  return tend::roll(self(), shifts, dims);
}
Tensor Shapes::repeat(const Shape& repeats) const {
  return tend::repeat(self(), repeats);
}
Tensor Shapes::tile(const Shape& repeats) const {
  return tend::tile(self(), repeats);
}
Tensor Shapes::repeat_interleave(std::int64_t repeats, std::optional<Integer> d) const {
  return tend::repeat_interleave(self(), repeats, d);
}
Tensor Shapes::repeat_interleave(const Tensor& repeats, std::optional<Integer> d) const {
  return tend::repeat_interleave(self(), repeats, d);
}
Tensor Shapes::diag(std::int64_t diagonal) const {
  return tend::diag(self(), diagonal);
}
Tensor Shapes::diag_embed(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return tend::diag_embed(self(), offset, dim1, dim2);
}
Tensor Shapes::contiguous() const {
  return tend::contiguous(self());
}
Tensor Shapes::clone() const {
  return tend::clone(self());
}
Tensor Shapes::to(Exactly<DType> target) const {
  return tend::to(self(), target);
}

const Tensor& Shapes::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend::methods
