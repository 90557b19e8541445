// The machine's limits: rates of arithmetic, of copying and of reading memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace limits {

/// Work that all threads share, each on its own core. work(rounds) does it `rounds` times.
using Work = std::function<void(std::int64_t rounds)>;

/// Does at least `flops` float32 operations: fused multiply-adds on independent sums in registers.
Work arithmetic(double flops, int threads);

/// Copies with memcpy. Half of `bytes` are read and half are written, so `bytes` decides which
/// cache the work fits into.
Work copying(double bytes, int threads);

/// Reads `bytes` bytes.
Work reading(double bytes, int threads);

/// The name of the SIMD target that arithmetic() and reading() use.
std::string simd_target();

/// The rate of arithmetic(), in operations per second.
double flops_per_second(int threads);

/// The rate of copying(), in bytes per second, read and written.
double bytes_per_second(int threads, double bytes);

}  // namespace limits
