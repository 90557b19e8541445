/// \file
/// One tensor from several. The dtype is the one to which all promote; an empty list is a
/// ShapeError. Each tensor's gradient is its part of the result's.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// The tensors one after the other along `dim` (IndexError), promoted to one dtype. There is at
/// least one, none is 0-d, and they agree in all other dimensions (ShapeError). A 1-d tensor
/// without elements is left out, whatever the rank of the others, as in PyTorch. Each tensor's
/// gradient is its part of the result's.
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);
/// cat under its other name, with its errors. Each tensor's gradient is its part of the result's.
Tensor concat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

/// The tensors side by side: cat along dimension 1, or 0 for those of one dimension, with its
/// errors. 0-d tensors count as rows of one element. Each tensor's gradient is its part of the
/// result's.
Tensor hstack(const std::vector<Tensor>& tensors);
/// The tensors one below the other: cat along dimension 0, with its errors. Those of one dimension
/// are rows, and 0-d ones rows of one element. Each tensor's gradient is its part of the result's.
Tensor vstack(const std::vector<Tensor>& tensors);

/// The tensors, one at least and all of one shape (ShapeError), along a new dimension `dim` of the
/// result (IndexError), promoted to one dtype. Each tensor's gradient is its slice of the result's.
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

/// Which of the first two tensors of meshgrid goes along the rows: ij says the first, as in a
/// matrix, xy the second, as in a picture.
enum class MeshIndexing { ij, xy };
template <>
inline constexpr std::string_view detail::kWords<MeshIndexing> = "indexing: ij xy";

/// One tensor for each 1-d or 0-d tensor (ShapeError for others), all of the shape of their sizes,
/// which repeats that tensor's elements along all dimensions but its own: views. Needs at least one
/// tensor (ShapeError), and one dtype (DTypeError). Each tensor's gradient is the sum over the
/// other dimensions. https://pytorch.org/docs/2.6/generated/torch.meshgrid.html
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors,
                             OrWord<MeshIndexing> indexing = MeshIndexing::ij);

}  // namespace tend
