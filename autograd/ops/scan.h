/// \file
/// Running sums, products and extremes along a dimension.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;

/// Computes the running sum along `dim`: out[i] is the sum of self[0] to self[i].
///
/// The result has self's shape; bool and int64 give int64. If `dtype` is given, self is converted
/// to it first, and the result has it. The gradient of an element is the sum of the result's
/// gradients at its index and after it.
///
/// Throws: IndexError - `dim` is out of range
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Computes the running product along `dim`: out[i] is the product of self[0] to self[i].
///
/// The result has self's shape; bool and int64 give int64. If `dtype` is given, self is converted
/// to it first, and the result has it. The gradient of an element is a sum over the products that
/// contain it, each without this element. As in PyTorch, a product is divided by the element if no
/// element is zero. Otherwise there are no divisions.
///
/// Throws: IndexError - `dim` is out of range
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Computes log(cumsum(exp(self))) along `dim` without overflow.
///
/// The result has self's shape and dtype, which is floating. The gradient of an element x is the
/// sum of exp(x - y) times the gradient of y, over the results y at the index of x and after it.
///
/// Throws:
///   DTypeError - self is not floating
///   IndexError - `dim` is out of range
Tensor logcumsumexp(const Tensor& self, std::int64_t dim);

///@{
/// Finds the largest (cummax) or smallest (cummin) element so far along `dim`, and its index.
///
/// Both results have self's shape. The values have self's dtype, and the indices are int64. If
/// several elements are equal, the last one is found. At and after the first NaN, the value is NaN.
/// The gradient goes to the elements that were found.
///
/// Throws: IndexError - `dim` is out of range
ValuesAndIndices cummax(const Tensor& self, std::int64_t dim);
ValuesAndIndices cummin(const Tensor& self, std::int64_t dim);
///@}

}  // namespace tend
