// Products of few rows, such as a Linear layer's of one token. Their time is that of reading the
// right matrix once, which is not packed.
#pragma once

#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// Products of fewer rows count as few.
inline constexpr std::int64_t kFewRows = 8;

/// All products of the batch, of a layout that fits_tiles and fewer than kFewRows rows. The bits
/// are those of multiply_in_tiles with Rounding::fused, where sums begin anew after each `depth`
/// terms.
template <class T>
void multiply_few_rows(const MatrixProduct<T>& first, const Batch& batch, std::int64_t depth);

}  // namespace tend::kernels
