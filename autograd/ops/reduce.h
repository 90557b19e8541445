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
struct ValuesAndIndices;
struct Extremes;

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

///@{
/// maximum (minimum) of two tensors under its short name, with its dtypes, errors and gradients.
Tensor max(const Tensor& self, const Tensor& other);
Tensor min(const Tensor& self, const Tensor& other);
///@}
///@{
/// The largest (smallest) of all elements, 0-d; NaN if there is a NaN, ShapeError where there are
/// no elements. The gradient goes to that element, in even shares where several are equal.
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
///@}
///@{
/// The largest (smallest) along `dim` (IndexError), NaN if there is a NaN, with the int64 index of
/// the first such element; ShapeError along an empty dimension. The gradient goes to that element.
/// max(x, 2) is along dimension 2. Bounds are for clamp_min and clamp_max; a floating one does not
/// compile here.
ValuesAndIndices max(const Tensor& self, Integer dim, Flag keepdim = false);
ValuesAndIndices min(const Tensor& self, Integer dim, Flag keepdim = false);
///@}
///@{
/// The largest (smallest) over `dims` (IndexError, ShapeError for one named twice), or of all
/// elements; NaN if there is a NaN, ShapeError over an empty dimension. The gradient goes to that
/// element, in even shares where several are equal; where the result is NaN, so is the gradient.
Tensor amax(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
Tensor amin(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
///@}
///@{
/// The int64 index of the first of the largest (smallest) elements along `dim` (IndexError);
/// without one, among all elements in row-major order. NaN counts as both; ShapeError where there
/// is nothing to choose from. No gradient.
Tensor argmax(const Tensor& self, std::optional<Integer> dim = std::nullopt, Flag keepdim = false);
Tensor argmin(const Tensor& self, std::optional<Integer> dim = std::nullopt, Flag keepdim = false);
///@}

/// The smallest and the largest along `dim` (IndexError), or of all elements; NaN if there is a
/// NaN, ShapeError where there are no elements. The gradient goes to these elements, in even shares
/// where several are equal; where the result is NaN, so is the gradient.
Extremes aminmax(const Tensor& self, std::optional<Integer> dim = std::nullopt,
                 Flag keepdim = false);

/// The middle one of all elements in ascending order, the lower one of two; NaN if there is a NaN.
/// As in PyTorch, NaN if there are no elements, for int64 the smallest one. The gradient goes to
/// the elements that are equal to it, in even shares.
Tensor median(const Tensor& self);
/// The median along `dim` (IndexError), with the int64 index it has there; ShapeError along an
/// empty dimension. The gradient goes to that element.
/// https://pytorch.org/docs/2.6/generated/torch.median.html
ValuesAndIndices median(const Tensor& self, Integer dim, Flag keepdim = false);

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

/// Whether any element over `dims` (IndexError, ShapeError for one named twice), or any of all, is
/// true, that is not zero (NaN is true): bool, false for no elements. No gradient.
Tensor any(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
/// Whether all elements over `dims` (IndexError, ShapeError for one named twice), or all of self,
/// are true, that is not zero (NaN is true): bool, true for no elements. No gradient.
Tensor all(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);

/// out[i] = self[0] + ... + self[i] along `dim` (IndexError); bool and int64 give int64. The
/// gradient of an element is the sum of the result's from its index on. With `dtype` self is
/// converted first, and the result has it.
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// out[i] = self[0] * ... * self[i] along `dim` (IndexError); bool and int64 give int64. The
/// gradient of an element is the sum over the products that contain it, each without that element.
/// As PyTorch's, it is those products divided by the element where no element is zero, and without
/// divisions otherwise. With `dtype` self is converted first, and the result has it.
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// log(cumsum(exp(self))) along `dim` (IndexError), without overflow. Floating only (DTypeError).
/// The gradient of an element x is the sum over the results y from its index on of exp(x - y) times
/// y's.
Tensor logcumsumexp(const Tensor& self, std::int64_t dim);

///@{
/// The largest (smallest) element so far along `dim` (IndexError), with the int64 index of the last
/// one that is equal to it; once there is a NaN, that. The gradient goes to these elements.
ValuesAndIndices cummax(const Tensor& self, std::int64_t dim);
ValuesAndIndices cummin(const Tensor& self, std::int64_t dim);
///@}

/// self summed down to `shape`, which must broadcast to self's (ShapeError): the transpose of
/// expand. The gradient is the result's, expanded to self's shape.
Tensor sum_to_size(const Tensor& self, const Shape& shape);

}  // namespace tend
