// The functions of math.h that SIMD computes, over spans of contiguous elements. math.cpp uses
// them.
#pragma once

#include <cstddef>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

enum class Function {
#define TEND_FUNCTION(name, formula) name,
#include <tend/core/kernels/elementwise/math_table.h>
#undef TEND_FUNCTION
  square,
  cube,
  relu,
  silu,
  gelu,
  gelu_tanh,
};
/// Functions of two numbers.
enum class BinaryFunction {
  atan2,
  logaddexp,
  xlogy,
  pow,
  fmod,
  remainder,
  floor_divide,
  trunc_divide
};
/// Kernels for contiguous elements. A result does not depend on the position of its element.
template <class T>
struct SpanKernels {
  /// out[i] = function(a[i])
  void (*map)(Function function, std::size_t n, T* out, const T* a);
  /// out[i] = function(a[i], b[i])
  void (*map_two)(BinaryFunction function, std::size_t n, T* out, const T* a, const T* b);
};

/// The kernels for the processor at hand.
const ForTypes<SpanKernels>& span_kernels();

}  // namespace tend::kernels
