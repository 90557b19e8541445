// The functions of math.h that SIMD computes, over spans of contiguous elements; for math.cpp.
#pragma once

#include <cstddef>

namespace tend::kernels {

enum class Function { exp, log, tanh, sigmoid, erf, silu, gelu, gelu_tanh };
/// The derivatives of those, times a gradient.
enum class Backward { tanh, sigmoid, silu, gelu, gelu_tanh };

/// out[i] = function(a[i]); of float and double. A result does not depend on where its element
/// lies.
template <class T>
void map_span(Function function, std::size_t n, T* out, const T* a);

/// out[i] = grad[i] * derivative, at the function's result a[i] for tanh and sigmoid, at its
/// argument a[i] for the others.
template <class T>
void map_span(Backward function, std::size_t n, T* out, const T* grad, const T* a);

}  // namespace tend::kernels
