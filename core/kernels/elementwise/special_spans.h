// The functions of special.h over spans of contiguous elements; for special.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

enum class Special { lgamma, erfinv, polygamma, round };

/// A function with its parameter: polygamma's order, round's decimals.
struct SpecialFunction {
  Special function;
  std::int64_t number = 0;
};

/// As SpanKernels.
template <class T>
struct SpecialKernels {
  void (*map)(SpecialFunction function, std::size_t n, T* out, const T* a);
};

/// For the processor at hand.
const ForTypes<SpecialKernels>& special_kernels();

}  // namespace tend::kernels
