// Products of few rows, such as a Linear layer applied to one token. The right matrix is not
// packed: reading it once takes most of the time.
#pragma once

#include <cstddef>

#include <tend/core/kernels/matmul/gemm_product.h>
#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// Products with fewer rows than this count as few.
inline constexpr std::int64_t kFewRows = 8;

/// Computes all products of the batch, which have fewer than kFewRows rows.
///
/// Rows of a and c are contiguous, and one stride of b is 1. The results have the same bits as from
/// multiply_in_tiles, for products that use an FMA.
template <class T>
void multiply_few_rows(const MatrixProduct<T>& first, const Batch& batch);

/// The product c = alpha * a @ b + beta * c + bias, with fewer than kFewRows rows.
///
/// Element (p, j) of b is b[p * b_step + j * b_column], where one of the two steps is 1. Rows of a
/// and c are contiguous. With beta 0, c is not read.
template <class T>
struct FewRows {
  std::size_t rows, columns, k;
  const T* a;
  std::size_t a_row;
  const T* b;
  std::size_t b_step, b_column;
  T* c;
  std::size_t c_row;
  T alpha, beta;
  const T* bias = nullptr;
};

template <class T>
using FewRowsKernel = void (*)(const FewRows<T>& product);

/// The kernel for one product. It gives the same bits as TileKernels::multiply with
/// Rounding::fused.
const ForTypes<FewRowsKernel>& few_rows_kernels();

}  // namespace tend::kernels
