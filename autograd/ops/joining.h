/// \file
/// Functions that make one tensor from several. The result has the dtype to which all inputs
/// promote. The gradient of each input is its part of the result's gradient. An empty list throws a
/// ShapeError.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// Joins tensors one after the other along `dim`.
///
/// The tensors agree in all other dimensions, and promote to one dtype. As in PyTorch, a 1-d tensor
/// without elements is left out, whatever the rank of the others. The gradient of each tensor is
/// its part of the result's gradient.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - there are no tensors, or one is 0-d
///   ShapeError - the tensors differ in rank, or in another dimension than `dim`
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
/// Joins tensors one after the other along `dim`, as cat.
///
/// The tensors agree in all other dimensions, and promote to one dtype. The gradient of each tensor
/// is its part of the result's gradient.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - there are no tensors, or one is 0-d
///   ShapeError - the tensors differ in rank, or in another dimension than `dim`
Tensor concat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

/// Joins tensors side by side: cat along dimension 1, or along dimension 0 for 1-d tensors.
///
/// 0-d tensors count as 1-d tensors of one element. The dtypes promote. The gradient of each tensor
/// is its part of the result's gradient.
///
/// Throws: ShapeError - there are no tensors, or their shapes do not fit
Tensor hstack(const std::vector<Tensor>& tensors);
/// Joins tensors one below the other: cat along dimension 0.
///
/// A 1-d tensor counts as a row, and a 0-d tensor as a row of one element. The dtypes promote. The
/// gradient of each tensor is its part of the result's gradient.
///
/// Throws: ShapeError - there are no tensors, or their shapes do not fit
Tensor vstack(const std::vector<Tensor>& tensors);

/// Joins tensors of one shape along a new dimension `dim` of the result.
///
/// The dtypes promote. The gradient of each tensor is its slice of the result's gradient.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - there are no tensors, or their shapes differ
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

/// The order of the first two dimensions in meshgrid's results.
///
/// With ij, the first tensor varies along dimension 0, as in a matrix. With xy, the first tensor
/// varies along dimension 1, as in a picture.
enum class MeshIndexing { ij, xy };
template <>
inline constexpr std::string_view detail::kWords<MeshIndexing> = "indexing: ij xy";

/// Expands each 1-d or 0-d tensor over a common grid, with one dimension for each tensor.
///
/// Each result has the sizes of all tensors as its shape, and repeats its tensor along all other
/// dimensions. The results are views. All tensors have one dtype. The gradient of each tensor is
/// the sum of the result's gradient over the other dimensions.
///
/// Throws:
///   ShapeError - there are no tensors, or one has several dimensions
///   DTypeError - the dtypes differ
///
/// https://pytorch.org/docs/2.6/generated/torch.meshgrid.html
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors,
                             OrWord<MeshIndexing> indexing = MeshIndexing::ij);

}  // namespace tend
