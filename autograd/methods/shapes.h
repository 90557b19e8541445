// Methods of Tensor: views and shapes. Each calls the free function of its name, which
// has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/ops.h>

namespace tend::methods {

/// A base of Tensor, which stands in its place as the template's argument.
template <class Tensor>
class Shapes {
 public:
  // Views and shapes.

  Tensor select(std::int64_t d, std::int64_t position) const {
    return tend::select(self(), d, position);
  }
  Tensor slice(std::int64_t d, std::optional<Integer> start, std::optional<Integer> stop,
               std::int64_t step = 1) const {
    return tend::slice(self(), d, start, stop, step);
  }
  Tensor narrow(std::int64_t d, std::int64_t start, std::int64_t length) const {
    return tend::narrow(self(), d, start, length);
  }
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const {
    return tend::transpose(self(), dim0, dim1);
  }
  Tensor swapaxes(std::int64_t dim0, std::int64_t dim1) const {
    return tend::swapaxes(self(), dim0, dim1);
  }
  Tensor t() const { return tend::t(self()); }
  Tensor permute(const Shape& dims) const { return tend::permute(self(), dims); }
  Tensor movedim(std::int64_t source, std::int64_t destination) const {
    return tend::movedim(self(), source, destination);
  }
  Tensor movedim(const Shape& source, const Shape& destination) const {
    return tend::movedim(self(), source, destination);
  }
  Tensor expand(const Shape& sizes) const { return tend::expand(self(), sizes); }
  Tensor expand_as(const Tensor& other) const { return tend::expand_as(self(), other); }
  Tensor broadcast_to(const Shape& sizes) const { return tend::broadcast_to(self(), sizes); }
  Tensor view(const Shape& sizes) const { return tend::view(self(), sizes); }
  Tensor view_as(const Tensor& other) const { return tend::view_as(self(), other); }
  Tensor reshape(const Shape& sizes) const { return tend::reshape(self(), sizes); }
  Tensor reshape_as(const Tensor& other) const { return tend::reshape_as(self(), other); }
  Tensor flatten(std::int64_t start = 0, std::int64_t stop = -1) const {
    return tend::flatten(self(), start, stop);
  }
  Tensor unflatten(std::int64_t d, const Shape& sizes) const {
    return tend::unflatten(self(), d, sizes);
  }
  Tensor squeeze() const { return tend::squeeze(self()); }
  Tensor squeeze(std::int64_t d) const { return tend::squeeze(self(), d); }
  Tensor squeeze(const Shape& dims) const { return tend::squeeze(self(), dims); }
  Tensor unsqueeze(std::int64_t d) const { return tend::unsqueeze(self(), d); }
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim0 = 0, std::int64_t dim1 = 1) const {
    return tend::diagonal(self(), offset, dim0, dim1);
  }
  Tensor unfold(std::int64_t d, std::int64_t length, std::int64_t step) const {
    return tend::unfold(self(), d, length, step);
  }
  std::vector<Tensor> split(std::int64_t length, std::int64_t d = 0) const {
    return tend::split(self(), length, d);
  }
  std::vector<Tensor> split(const Shape& lengths, std::int64_t d = 0) const {
    return tend::split(self(), lengths, d);
  }
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t d = 0) const {
    return tend::chunk(self(), chunks, d);
  }
  std::vector<Tensor> unbind(std::int64_t d = 0) const { return tend::unbind(self(), d); }
  Tensor flip(const Dims& dims) const { return tend::flip(self(), dims); }
  Tensor roll(std::int64_t shift, std::optional<Integer> d = std::nullopt) const {
    return tend::roll(self(), shift, d);
  }
  Tensor roll(const Shape& shifts, const Shape& dims) const {
    return tend::roll(self(), shifts, dims);
  }
  Tensor repeat(const Shape& repeats) const { return tend::repeat(self(), repeats); }
  Tensor tile(const Shape& repeats) const { return tend::tile(self(), repeats); }
  Tensor repeat_interleave(std::int64_t repeats, std::optional<Integer> d = std::nullopt) const {
    return tend::repeat_interleave(self(), repeats, d);
  }
  Tensor repeat_interleave(const Tensor& repeats, std::optional<Integer> d = std::nullopt) const {
    return tend::repeat_interleave(self(), repeats, d);
  }
  Tensor diag(std::int64_t diagonal = 0) const { return tend::diag(self(), diagonal); }
  Tensor diag_embed(std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1) const {
    return tend::diag_embed(self(), offset, dim1, dim2);
  }
  Tensor contiguous() const { return tend::contiguous(self()); }
  Tensor clone() const { return tend::clone(self()); }
  Tensor to(DType target) const { return tend::to(self(), target); }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }
};

}  // namespace tend::methods
