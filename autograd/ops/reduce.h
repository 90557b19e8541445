/// \file
/// Reductions over any set of dimensions: IndexError for one out of range, ShapeError for one that
/// is named twice. With keepdim the reduced dimensions stay, of size 1.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// The sum over `dims` (IndexError, ShapeError for one named twice), or of all elements; bool and
/// int64 give int64. The sum of nothing is 0. With `dtype` self is converted first, and the result
/// has it. The gradient is 1 for each element.
Tensor sum(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
           std::optional<DType> dtype = std::nullopt);
/// The sum of all elements, converted to `dtype` first; its gradient.
Tensor sum(const Tensor& self, Exactly<DType> dtype);

/// The sum over `dims` (IndexError, ShapeError for one named twice) divided by the number of its
/// elements, n; DTypeError unless floating. The mean of nothing is NaN. With `dtype` self is
/// converted first. The gradient is 1 / n.
Tensor mean(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
            std::optional<DType> dtype = std::nullopt);
/// The mean of all elements, converted to `dtype` first; its gradient.
Tensor mean(const Tensor& self, Exactly<DType> dtype);

/// The product over `dims` (IndexError, ShapeError for one named twice), or of all elements; bool
/// and int64 give int64. The product of nothing is 1. With `dtype` self is converted first, and the
/// result has it. The gradient of an element is the product of the others, also where some are
/// zero; where none is, computed as the product of all over the element, and so 0 if that is.
Tensor prod(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
            std::optional<DType> dtype = std::nullopt);
/// The product of all elements, converted to `dtype` first; its gradient.
Tensor prod(const Tensor& self, Exactly<DType> dtype);

/// The sum of squared distances to the mean, over n - correction: 1 gives the unbiased variance of
/// a sample (and so does None), 0 that of a population. NaN or infinite where n <= correction;
/// DTypeError unless floating; IndexError for one of `dims`, ShapeError for one named twice. The
/// gradient is 2 (self - mean) / (n - correction).
/// https://pytorch.org/docs/2.6/generated/torch.var.html
Tensor var(const Tensor& self, const Dims& dims = {}, std::optional<double> correction = 1,
           Flag keepdim = false);
/// The same of all elements with correction 1 (unbiased) or 0; its gradient.
Tensor var(const Tensor& self, Flag unbiased);
/// The square root of var, with its dtypes and errors. With both `using namespace std` and `using
/// namespace tend`, the name std means the namespace: write x.std() or tend::std(x). The gradient
/// is (self - mean) / ((n - correction) std), 0 where std is 0.
/// https://pytorch.org/docs/2.6/generated/torch.std.html
Tensor std(const Tensor& self, const Dims& dims = {}, std::optional<double> correction = 1,
           Flag keepdim = false);
/// The same of all elements with correction 1 (unbiased) or 0; its gradient.
Tensor std(const Tensor& self, Flag unbiased);

///@{
/// var (std) and the mean, with var's dtypes and errors: auto [var, mean] = var_mean(x). The
/// gradients are those of both.
std::pair<Tensor, Tensor> var_mean(const Tensor& self, const Dims& dims = {},
                                   std::optional<double> correction = 1, Flag keepdim = false);
std::pair<Tensor, Tensor> std_mean(const Tensor& self, const Dims& dims = {},
                                   std::optional<double> correction = 1, Flag keepdim = false);
///@}

/// sum with NaN counted as 0; its dtypes (and `dtype`) and errors. The gradient is 1, and 0 where
/// self is NaN.
Tensor nansum(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt);
/// The mean of the elements that are not NaN, NaN where there are none; the dtypes and errors of
/// mean. The gradient is 1 / n for the n elements that count, and 0 where self is NaN.
Tensor nanmean(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
               std::optional<DType> dtype = std::nullopt);
/// How many elements over `dims` (IndexError, ShapeError for one named twice), or of all, are not
/// zero: int64; NaN counts. No gradient.
Tensor count_nonzero(const Tensor& self, const Dims& dims = {});

/// Whether any element over `dims` (IndexError, ShapeError for one named twice), or any of all, is
/// true, that is not zero (NaN is true): bool, false for no elements. No gradient.
Tensor any(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
/// Whether all elements over `dims` (IndexError, ShapeError for one named twice), or all of self,
/// are true, that is not zero (NaN is true): bool, true for no elements. No gradient.
Tensor all(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);

/// self summed down to `shape`, which must broadcast to self's (ShapeError): the transpose of
/// expand. The gradient is the result's, expanded to self's shape.
Tensor sum_to_size(const Tensor& self, const Shape& shape);

}  // namespace tend
