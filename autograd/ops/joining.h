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

/// The tensors, all of one shape (ShapeError), along a new dimension `dim`.
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0);

}  // namespace tend
