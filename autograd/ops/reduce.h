// Reductions over any set of dimensions.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

// `dims` may count from the end; an empty list means all of them. With keepdim the reduced
// dimensions stay, of size 1.

/// Sum; bool and int64 give int64. The sum of nothing is 0.
Tensor sum(const Tensor& self, const Shape& dims = {}, bool keepdim = false);

/// Mean; DTypeError unless floating. The mean of nothing is NaN.
Tensor mean(const Tensor& self, const Shape& dims = {}, bool keepdim = false);

/// self summed down to `shape`, which must broadcast to self's: the transpose of expand.
Tensor sum_to_size(const Tensor& self, const Shape& shape);

}  // namespace tend
