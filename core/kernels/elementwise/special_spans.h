// The functions of special.h over spans of contiguous elements; for special.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

enum class Special { lgamma, erfinv, polygamma, logit, round };

/// A function with its parameters: polygamma's order, round's decimals, or the bounds that logit
/// clamps its argument to.
struct SpecialFunction {
  Special function;
  std::int64_t number = 0;
  double min = 0, max = 0;
};

/// The derivative of logit times a gradient: `outside` where the argument is not within the bounds.
struct LogitBackward {
  double min, max, outside;
};

/// As SpanKernels.
template <class T>
struct SpecialKernels {
  void (*map)(SpecialFunction function, std::size_t n, T* out, const T* a);
  void (*logit_backward)(LogitBackward, std::size_t n, T* out, const T* grad, const T* a);
};

/// For the processor at hand.
const ForTypes<SpecialKernels>& special_kernels();

}  // namespace tend::kernels
