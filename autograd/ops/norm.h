/// \file
/// Norms of vectors, and logsumexp.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// Computes log(sum(exp(self))) over `dims` without overflow.
///
/// The result has self's shape without `dims`; with keepdim they stay, with size 1. int64 and bool
/// give float32. The result is -inf if all elements are -inf, or if there are no elements. The
/// gradient is softmax(self) over `dims`. As in PyTorch, it is NaN where the result is infinite.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
///
/// https://pytorch.org/docs/2.6/generated/torch.logsumexp.html
Tensor logsumexp(const Tensor& self, const Dims& dims, Flag keepdim = false);

/// Computes the norm of order p of the vectors along `dims`, (sum |x|^p)^(1/p).
///
/// The result has self's shape without `dims`; with keepdim they stay, with size 1. If `dtype` is
/// given, self is converted to it first. The default order is 2, also for None. For p = inf the
/// norm is the largest |x|, for p = -inf the smallest |x|, and for p = 0 the number of elements
/// that are not zero.
///
/// The gradient is sign(x) (|x| / norm)^(p - 1), and 0 where the norm is 0. For p = inf and p =
/// -inf it is sign(x), shared evenly by elements of equal |x|. For p = 0 it is zero.
///
/// Throws:
///   DTypeError - self, or `dtype` if given, is not floating
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice, or p is negative or inf and one of `dims` is empty
///
/// https://pytorch.org/docs/2.6/generated/torch.linalg.vector_norm.html
Tensor norm(const Tensor& self, std::optional<double> p = 2, const Dims& dims = {},
            Flag keepdim = false, std::optional<DType> dtype = std::nullopt);

/// Scales the vectors along `dim` to length 1, as self / max(norm(self, p, dim), eps).
///
/// The result has self's shape and dtype. The gradient passes through both self and the norm.
///
/// Throws:
///   DTypeError - self is not floating
///   IndexError - `dim` is out of range
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.normalize.html
Tensor normalize(const Tensor& self, double p = 2, std::int64_t dim = 1, double eps = 1e-12);

}  // namespace tend
