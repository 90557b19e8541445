// What the machine can do.
#pragma once

#include <sched.h>

#include <cstddef>
#include <string>

namespace limits {

/// Does at least `flops` float32 operations as fused multiply-adds on independent sums in
/// registers; returns their sum, which only serves to keep them.
float multiply_add(double flops);

/// Reads so many numbers from memory, a whole number of vectors, and returns their sum, which only
/// serves to read them.
float read_all(const float* numbers, std::size_t count);

/// The instructions that these are done with.
std::string simd_target();

/// The cores that this thread may run on.
cpu_set_t own_cores();

/// Keeps this thread on the core of that number among `cores`: two that share one would show half
/// of what there is.
void stay_on(const cpu_set_t& cores, int number);

/// multiply_add on so many threads, each on a core of its own, in operations a second.
double flops_per_second(int threads);

/// memcpy on so many threads, in bytes that are read or written a second: `bytes` in all, half of
/// them read, which decides the cache that they fit.
double bytes_per_second(int threads, std::size_t bytes);

}  // namespace limits
