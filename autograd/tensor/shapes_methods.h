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

#include <tend/autograd/tensor/dims.h>
#include <tend/autograd/tensor/index.h>
#include <tend/core/array/dtype.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>
#include <tend/core/base/error.h>
#include <tend/core/base/strict.h>

namespace tend {

class Tensor;

namespace methods {

/// A base of Tensor.
class Shapes {
 public:
  // Views and shapes.

  Tensor select(std::int64_t d, std::int64_t position) const;
  Tensor slice(std::int64_t d = 0, std::optional<Integer> start = std::nullopt,
               std::optional<Integer> stop = std::nullopt, std::int64_t step = 1) const;
  Tensor narrow(std::int64_t d, std::int64_t start, std::int64_t length) const;
  Tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  Tensor swapaxes(std::int64_t dim0, std::int64_t dim1) const;
  Tensor t() const;
  // NOLINTBEGIN(readability-identifier-naming): PyTorch's names
  /// All dimensions in reverse order: of a matrix, its transpose.
  Tensor T() const;
  /// The last two dimensions exchanged; IndexError where there are fewer.
  Tensor mT() const;
  // NOLINTEND(readability-identifier-naming)
  Tensor permute(const Shape& dims) const;
  Tensor movedim(std::int64_t source, std::int64_t destination) const;
  Tensor movedim(const Shape& source, const Shape& destination) const;
  Tensor expand(const Shape& sizes) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor broadcast_to(const Shape& sizes) const;
  Tensor view(const Shape& sizes) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape(const Shape& sizes) const;
  Tensor reshape_as(const Tensor& other) const;
  Tensor flatten(std::int64_t start = 0, std::int64_t stop = -1) const;
  Tensor unflatten(std::int64_t d, const Shape& sizes) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t d) const;
  Tensor squeeze(const Shape& dims) const;
  Tensor unsqueeze(std::int64_t d) const;
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim0 = 0, std::int64_t dim1 = 1) const;
  Tensor unfold(std::int64_t d, std::int64_t length, std::int64_t step) const;
  std::vector<Tensor> split(std::int64_t length, std::int64_t d = 0) const;
  std::vector<Tensor> split(const Shape& lengths, std::int64_t d = 0) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t d = 0) const;
  std::vector<Tensor> tensor_split(std::int64_t sections, std::int64_t d = 0) const;
  std::vector<Tensor> tensor_split(const Shape& indices, std::int64_t d = 0) const;
  std::vector<Tensor> tensor_split(const Tensor& indices_or_sections, std::int64_t d = 0) const;
  std::vector<Tensor> tensor_split(std::initializer_list<std::int64_t> indices,
                                   std::int64_t d = 0) const;
  std::vector<Tensor> unbind(std::int64_t d = 0) const;
  // The same where the number of pieces is known: auto [q, k, v] = x.chunk<3>(-1); ShapeError for
  // another number of them.
  template <std::size_t N>
  std::array<Tensor, N> split(std::int64_t length, std::int64_t d = 0) const;
  template <std::size_t N>
  std::array<Tensor, N> split(const Shape& lengths, std::int64_t d = 0) const;
  template <std::size_t N>
  std::array<Tensor, N> chunk(std::int64_t d = 0) const;
  template <std::size_t N>
  std::array<Tensor, N> unbind(std::int64_t d = 0) const;
  Tensor flip(const Shape& dims) const;
  Tensor roll(std::int64_t shift, std::optional<Integer> d = std::nullopt) const;
  Tensor roll(const Shape& shifts, const Shape& dims) const;
  Tensor repeat(const Shape& repeats) const;
  Tensor tile(const Shape& repeats) const;
  Tensor repeat_interleave(std::int64_t repeats, std::optional<Integer> d = std::nullopt) const;
  Tensor repeat_interleave(const Tensor& repeats, std::optional<Integer> d = std::nullopt) const;
  Tensor diag(std::int64_t diagonal = 0) const;
  Tensor diag_embed(std::int64_t offset = 0, std::int64_t dim1 = -2, std::int64_t dim2 = -1) const;
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor to(Exactly<DType> target) const;
  /// In the dtype of `other`.
  Tensor to(const Tensor& other) const;
  Tensor type_as(const Tensor& other) const;

 private:
  const Tensor& self() const;

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
