// The functions of math.h that SIMD computes, over spans of contiguous elements; for math.cpp.
#pragma once

#include <cstddef>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

enum class Function { exp, log, tanh, sigmoid, erf, silu, gelu, gelu_tanh };
/// The derivatives of those, times a gradient.
enum class Backward { tanh, sigmoid, silu, gelu, gelu_tanh };

/// A result does not depend on the position of its element.
template <class T>
struct SpanKernels {
  /// out[i] = function(a[i])
  void (*map)(Function function, std::size_t n, T* out, const T* a);
  /// out[i] = grad[i] * derivative, at the function's result a[i] for tanh and sigmoid, at its
  /// argument a[i] for the others.
  void (*differentiate)(Backward function, std::size_t n, T* out, const T* grad, const T* a);
};

/// For the processor at hand.
const ForTypes<SpanKernels>& span_kernels();

}  // namespace tend::kernels
