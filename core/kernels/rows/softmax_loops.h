// The vectorised loops of softmax, its logarithm and their gradients. softmax.cpp uses them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// The two inputs are (a, unused), or (grad, y) for a backward.
enum class SoftmaxKind { softmax, log_softmax, softmax_backward, log_softmax_backward };

/// The memory layout of SoftmaxLines.
enum class SoftmaxLayout {
  rows,           ///< rows of 16 or more contiguous elements
  streamed_rows,  ///< rows whose output is written past the caches; each row of the output is
  ///< aligned to 64 bytes, and its size is a multiple of 64 bytes
  columns  ///< columns of contiguous rows, side by side
};

/// Rows or columns of n elements. Steps are in bytes: from row to row, or along a column.
template <class T>
struct SoftmaxLines {
  std::int64_t count, n;
  T* out;
  const T* a;
  const T* b;
  std::int64_t out_step, a_step, b_step;
};

template <class T>
void softmax_lines(SoftmaxKind kind, SoftmaxLayout layout, const SoftmaxLines<T>& lines);

/// x[i] = e^x[i] for n elements, where n is a multiple of 16. float is rounded correctly.
template <class T>
void precise_exp(std::int64_t n, T* x);

}  // namespace tend::kernels
