// What the machine can do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace limits {

/// Work that all threads share, each on a core of its own: work(rounds) does it so many times.
using Work = std::function<void(std::int64_t rounds)>;

/// At least `flops` float32 operations, as fused multiply-adds on independent sums in registers.
Work arithmetic(double flops, int threads);

/// memcpy: reads half of the bytes and writes as many elsewhere. The number of bytes decides the
/// cache that they fit.
Work copying(double bytes, int threads);

/// Reads so many bytes.
Work reading(double bytes, int threads);

/// The instructions that these are done with.
std::string simd_target();

/// The rate of arithmetic() in operations a second.
double flops_per_second(int threads);

/// The rate of copying() in bytes that are read or written a second.
double bytes_per_second(int threads, double bytes);

}  // namespace limits
