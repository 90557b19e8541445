/// \file
/// Reductions over any set of dimensions. With keepdim the reduced dimensions stay, with size 1.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// Adds the elements over `dims`, or all elements.
///
/// The result has self's shape without `dims`; with keepdim they stay, with size 1. bool and int64
/// give int64. If `dtype` is given, self is converted to it first, and the result has it. The sum
/// of no elements is 0. The gradient is 1 for each element.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor sum(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
           std::optional<DType> dtype = std::nullopt);
/// Adds all elements, after converting them to `dtype`.
///
/// The result is 0-d and has this dtype. The gradient is 1 for each element.
Tensor sum(const Tensor& self, Exactly<DType> dtype);

/// Computes the mean of the elements over `dims`, or of all elements.
///
/// The result has self's shape without `dims`; with keepdim they stay, with size 1. The dtype is
/// floating. If `dtype` is given, self is converted to it first. The mean of no elements is NaN.
/// The gradient is 1 / n for a mean of n elements.
///
/// Throws:
///   DTypeError - self, or `dtype` if given, is not floating
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor mean(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
            std::optional<DType> dtype = std::nullopt);
/// Computes the mean of all elements, after converting them to `dtype`.
///
/// The result is 0-d and has this dtype. The gradient is 1 / n for n elements.
///
/// Throws: DTypeError - `dtype` is not floating
Tensor mean(const Tensor& self, Exactly<DType> dtype);

/// Multiplies the elements over `dims`, or all elements.
///
/// The result has self's shape without `dims`; with keepdim they stay, with size 1. bool and int64
/// give int64. If `dtype` is given, self is converted to it first, and the result has it. The
/// product of no elements is 1.
///
/// The gradient of an element is the product of the other elements, also where some of them are
/// zero. If no element is zero, the gradient is computed as the product of all elements divided by
/// this element. The gradient is therefore 0 where the product underflows to 0.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor prod(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
            std::optional<DType> dtype = std::nullopt);
/// Multiplies all elements, after converting them to `dtype`.
///
/// The result is 0-d and has this dtype. The gradient of an element is the product of the others.
Tensor prod(const Tensor& self, Exactly<DType> dtype);

/// Computes the variance of the elements over `dims`, or of all elements.
///
/// The result has self's shape without `dims`; with keepdim they stay, with size 1. It has self's
/// dtype, which is floating. The variance is the sum of the squared distances to the mean, divided
/// by n - correction for n elements. Correction 1 (or None) gives the unbiased variance of a
/// sample, and 0 the variance of a population. The variance is NaN or infinite where n <=
/// correction. The gradient is 2 (self - mean) / (n - correction).
///
/// Throws:
///   DTypeError - self is not floating
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
///
/// https://pytorch.org/docs/2.6/generated/torch.var.html
Tensor var(const Tensor& self, const Dims& dims = {}, std::optional<double> correction = 1,
           Flag keepdim = false);
/// Computes the variance of all elements with correction 1 (unbiased) or 0.
///
/// The result is 0-d and has self's dtype. The gradient is 2 (self - mean) / (n - correction).
///
/// Throws: DTypeError - self is not floating
Tensor var(const Tensor& self, Flag unbiased);
/// Computes the standard deviation of the elements, which is the square root of var.
///
/// The shapes, dtypes and errors are var's. The gradient is (self - mean) / ((n - correction) std),
/// and 0 where std is 0. With both `using namespace std` and `using namespace tend`, the name std
/// means the namespace. Write x.std() or tend::std(x) then.
///
/// https://pytorch.org/docs/2.6/generated/torch.std.html
Tensor std(const Tensor& self, const Dims& dims = {}, std::optional<double> correction = 1,
           Flag keepdim = false);
/// Computes the standard deviation of all elements with correction 1 (unbiased) or 0.
///
/// The result is 0-d and has self's dtype. The gradient is (self - mean) / ((n - correction) std),
/// and 0 where std is 0.
///
/// Throws: DTypeError - self is not floating
Tensor std(const Tensor& self, Flag unbiased);

///@{
/// Computes the variance (var_mean) or the standard deviation (std_mean) together with the mean.
///
/// Use it as auto [var, mean] = var_mean(x). The shapes, dtypes and errors are var's. Each result
/// has its usual gradient: var's, std's or mean's.
std::pair<Tensor, Tensor> var_mean(const Tensor& self, const Dims& dims = {},
                                   std::optional<double> correction = 1, Flag keepdim = false);
std::pair<Tensor, Tensor> std_mean(const Tensor& self, const Dims& dims = {},
                                   std::optional<double> correction = 1, Flag keepdim = false);
///@}

/// Adds the elements over `dims`, or all elements, with NaN counted as 0.
///
/// The shapes, dtypes and errors are sum's. The gradient is 1, and 0 where self is NaN.
Tensor nansum(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt);
/// Computes the mean of the elements that are not NaN, over `dims` or of all elements.
///
/// It is NaN if there are no such elements. The shapes, dtypes and errors are mean's. The gradient
/// is 1 / n for the n elements that are not NaN, and 0 for the others.
Tensor nanmean(const Tensor& self, const Dims& dims = {}, Flag keepdim = false,
               std::optional<DType> dtype = std::nullopt);
/// Counts the elements over `dims`, or all elements, that are not zero.
///
/// The result is int64, and has self's shape without `dims`. NaN counts as not zero. No gradient.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor count_nonzero(const Tensor& self, const Dims& dims = {});

/// Returns whether any element over `dims`, or any element of self, is not zero.
///
/// The result is bool, and has self's shape without `dims`; with keepdim they stay, with size 1. It
/// is false for no elements. NaN counts as not zero. No gradient.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor any(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
/// Returns whether all elements over `dims`, or all elements of self, are not zero.
///
/// The result is bool, and has self's shape without `dims`; with keepdim they stay, with size 1. It
/// is true for no elements. NaN counts as not zero. No gradient.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor all(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);

/// Sums self down to a shape that broadcasts to self's shape.
///
/// It is the transpose of expand. The result has the given shape and sum's dtype; if self has this
/// shape already, the result is self. The gradient is the result's gradient, expanded to self's
/// shape.
///
/// Throws: ShapeError - `shape` does not broadcast to self's shape
Tensor sum_to_size(const Tensor& self, const Shape& shape);

}  // namespace tend
