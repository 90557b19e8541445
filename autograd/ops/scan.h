/// \file
/// Results of all elements up to each one, along a dimension.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;

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

}  // namespace tend
