// One tensor from several.
#pragma once

#include <cstdint>
#include <vector>

namespace tend {

class Tensor;

// The dtype is the one to which all promote. An empty list is a ShapeError.

/// The tensors one after the other along `dim`; they agree in all other dimensions (ShapeError). A
/// 1-d tensor without elements is left out, whatever the rank of the others, as in PyTorch.
Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

/// The tensors side by side: along dimension 1, or 0 for those of one dimension. Numbers count as
/// rows of one element.
Tensor hstack(const std::vector<Tensor>& tensors);
/// The tensors one below the other: along dimension 0. Those of one dimension are rows, and numbers
/// rows of one element.
Tensor vstack(const std::vector<Tensor>& tensors);

/// The tensors, all of one shape (ShapeError), along a new dimension `dim`.
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

}  // namespace tend
