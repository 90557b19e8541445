// The vectorised loops of softmax, its logarithm and their gradients; for softmax.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// The two inputs are (a, unused), or (grad, y) of a backward.
enum class SoftmaxKind { softmax, log_softmax, softmax_backward, log_softmax_backward };

/// Rows, or columns, of n elements: how many there are, and the bytes from one to the next in the
/// output and the inputs.
template <class T>
struct SoftmaxLines {
  std::int64_t count, n;
  T* out;
  const T* a;
  const T* b;
  std::int64_t out_step, a_step, b_step;
};

/// `pointer` moved by `bytes`.
template <class T>
T* moved(T* pointer, std::int64_t bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it may leave the array, where it is not read
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) +
                              static_cast<std::uintptr_t>(bytes));
}

/// Computes rows of 16 or more contiguous elements. `streamed` writes past the caches; then every
/// row of the output must be aligned to 64 bytes, and its size a multiple of that.
template <class T>
void softmax_rows(SoftmaxKind kind, const SoftmaxLines<T>& rows, bool streamed);

inline constexpr std::int64_t kMaxColumns = 1024;  // that are computed together

/// Computes columns that lie side by side; the steps are those along a column.
template <class T>
void softmax_columns(SoftmaxKind kind, const SoftmaxLines<T>& columns);

/// x[i] = e^x[i] for n elements, a multiple of 16; float is rounded correctly.
template <class T>
void precise_exp(std::int64_t n, T* x);

}  // namespace tend::kernels
