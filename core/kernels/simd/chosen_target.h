// Which SIMD targets a processor of x86 has.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// What a processor says of itself, as CPUID gives it; 0 where there is no such leaf.
struct Processor {
  std::uint32_t leaf1_c = 0, leaf7_b = 0, extended_c = 0;
  std::uint32_t kept_registers = 0;  // by the system when threads change (XCR0)
};

/// The targets of Highway whose instructions are there; none for a processor without SSE4.
std::int64_t targets_of(const Processor& processor);

}  // namespace tend::kernels
