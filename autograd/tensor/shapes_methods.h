// Methods of Tensor: views and shapes. Each calls the free function of its name,
// which has the documentation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include <tend/autograd/ops/linalg.h>
#include <tend/autograd/ops/pieces.h>
#include <tend/autograd/ops/rearrange.h>
#include <tend/autograd/ops/views.h>
#include <tend/core/base/error.h>

namespace tend {
namespace methods {

/// A base class of Tensor. Tensor is a template parameter because it is incomplete here.
template <class Tensor>
class Shapes {
 public:
  // Views and shapes.

  Tensor select(std::int64_t d, std::int64_t position) const {
    return tend::select(self(), d, position);
  }
  Tensor slice(std::int64_t d = 0, std::optional<Integer> start = std::nullopt,
               std::optional<Integer> stop = std::nullopt, std::int64_t step = 1) const {
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
  // NOLINTBEGIN(readability-identifier-naming): PyTorch's names
  /// Reverses the order of all dimensions. For a matrix, it is the transpose.
  Tensor T() const {
    Shape dims;
    for (std::int64_t d = self().dim() - 1; d >= 0; --d) dims.push_back(d);
    return tend::permute(self(), dims);
  }
  /// Swaps the last two dimensions.
  ///
  /// Throws: IndexError - there are fewer than two dimensions
  Tensor mT() const {
    if (self().dim() < 2)
      fail<IndexError>("mT", "needs at least 2 dimensions, got ", self().shape());
    return tend::transpose(self(), -2, -1);
  }
  // NOLINTEND(readability-identifier-naming)
  Tensor permute(const Shape& dims) const { return tend::permute(self(), dims); }
  template <class... T>
  requires detail::Sizes<T...> Tensor permute(T... dims)
  const { return tend::permute(self(), {Integer(dims)...}); }
  Tensor movedim(std::int64_t source, std::int64_t destination) const {
    return tend::movedim(self(), source, destination);
  }
  Tensor movedim(const Shape& source, const Shape& destination) const {
    return tend::movedim(self(), source, destination);
  }
  Tensor expand(const Shape& sizes) const { return tend::expand(self(), sizes); }
  template <class... T>
  requires detail::Sizes<T...> Tensor expand(T... sizes)
  const { return tend::expand(self(), {Integer(sizes)...}); }
  Tensor expand_as(const Tensor& other) const { return tend::expand_as(self(), other); }
  Tensor broadcast_to(const Shape& sizes) const { return tend::broadcast_to(self(), sizes); }
  Tensor view(const Shape& sizes) const { return tend::view(self(), sizes); }
  template <class... T>
  requires detail::Sizes<T...> Tensor view(T... sizes)
  const { return tend::view(self(), {Integer(sizes)...}); }
  Tensor view_as(const Tensor& other) const { return tend::view_as(self(), other); }
  Tensor reshape(const Shape& sizes) const { return tend::reshape(self(), sizes); }
  template <class... T>
  requires detail::Sizes<T...> Tensor reshape(T... sizes)
  const { return tend::reshape(self(), {Integer(sizes)...}); }
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
  std::vector<Tensor> tensor_split(std::int64_t sections, std::int64_t d = 0) const {
    return tend::tensor_split(self(), sections, d);
  }
  std::vector<Tensor> tensor_split(const Shape& indices, std::int64_t d = 0) const {
    return tend::tensor_split(self(), indices, d);
  }
  std::vector<Tensor> tensor_split(const Tensor& indices_or_sections, std::int64_t d = 0) const {
    return tend::tensor_split(self(), indices_or_sections, d);
  }
  std::vector<Tensor> tensor_split(std::initializer_list<std::int64_t> indices,
                                   std::int64_t d = 0) const {
    return tend::tensor_split(self(), indices, d);
  }
  std::vector<Tensor> unbind(std::int64_t d = 0) const { return tend::unbind(self(), d); }
  // The same functions for a number of pieces that is known at compile time:
  // auto [q, k, v] = x.chunk<3>(-1). They throw a ShapeError if the number of pieces differs.
  template <std::size_t N>
  std::array<Tensor, N> split(std::int64_t length, std::int64_t d = 0) const {
    return exactly<N>("split", split(length, d));
  }
  template <std::size_t N>
  std::array<Tensor, N> split(const Shape& lengths, std::int64_t d = 0) const {
    return exactly<N>("split", split(lengths, d));
  }
  template <std::size_t N>
  std::array<Tensor, N> chunk(std::int64_t d = 0) const {
    return exactly<N>("chunk", chunk(static_cast<std::int64_t>(N), d));
  }
  template <std::size_t N>
  std::array<Tensor, N> unbind(std::int64_t d = 0) const {
    return exactly<N>("unbind", unbind(d));
  }
  Tensor flip(const Shape& dims) const { return tend::flip(self(), dims); }
  template <class... T>
  requires detail::Sizes<T...> Tensor flip(T... dims)
  const { return tend::flip(self(), {Integer(dims)...}); }
  Tensor roll(std::int64_t shift, std::optional<Integer> d = std::nullopt) const {
    return tend::roll(self(), shift, d);
  }
  Tensor roll(const Shape& shifts, const Shape& dims) const {
    return tend::roll(self(), shifts, dims);
  }
  Tensor repeat(const Shape& repeats) const { return tend::repeat(self(), repeats); }
  template <class... T>
  requires detail::Sizes<T...> Tensor repeat(T... repeats)
  const { return tend::repeat(self(), {Integer(repeats)...}); }
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
  Tensor to(Exactly<DType> target) const { return tend::to(self(), target); }
  /// Converts to the dtype of `other`.
  Tensor to(const Tensor& other) const { return tend::to(self(), other.dtype()); }
  Tensor type_as(const Tensor& other) const { return tend::to(self(), other.dtype()); }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }

  template <std::size_t N, class T>
  static std::array<T, N> exactly(const char* operation, std::vector<T> pieces) {
    if (pieces.size() != N)
      fail<ShapeError>(operation, "there are ", pieces.size(), " pieces, not ", N);
    std::array<T, N> all;
    std::move(pieces.begin(), pieces.end(), all.begin());
    return all;
  }
};

}  // namespace methods
}  // namespace tend
