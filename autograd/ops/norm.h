/// \file
/// Norms of vectors, and logsumexp.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// log(sum(exp(self))) over `dims` (IndexError, ShapeError for one named twice), without overflow;
/// integers give float32. It is -inf for no elements, and where all are -inf. The gradient is
/// softmax(self) over `dims`; NaN where the result is infinite, as in PyTorch.
/// https://pytorch.org/docs/2.6/generated/torch.logsumexp.html
Tensor logsumexp(const Tensor& self, const Dims& dims, Flag keepdim = false);

/// The norm of vectors, converted to `dtype` first where that is given: (sum |x|^p)^(1/p), p = 2
/// for None, for p = inf (-inf) the largest (smallest) |x|, for p = 0 the number of elements that
/// are not zero. DTypeError unless floating; ShapeError for the norm of nothing where p is negative
/// or inf, and for one of `dims` named twice, IndexError for one out of range. The gradient is
/// sign(x) (|x| / norm)^(p - 1), 0 where the norm is 0; for p = inf and -inf it is sign(x), shared
/// evenly by equal |x|, for p = 0 it is zero.
/// https://pytorch.org/docs/2.6/generated/torch.linalg.vector_norm.html
Tensor norm(const Tensor& self, std::optional<double> p = 2, const Dims& dims = {},
            Flag keepdim = false, std::optional<DType> dtype = std::nullopt);

/// self / max(norm(self, p, dim), eps): vectors of length 1 along `dim` (IndexError). Floating only
/// (DTypeError). The gradient of x = self / n with the norm n is that of x and of n together.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.normalize.html
Tensor normalize(const Tensor& self, double p = 2, std::int64_t dim = 1, double eps = 1e-12);

}  // namespace tend
