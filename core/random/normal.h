// Converts uniform random numbers to normal ones.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// Converts each block of 16 uniform numbers in [0, 1) to 16 numbers from N(mean, std^2).
///
/// It uses the Box-Muller method: the first eight numbers of a block give the radii, the others the
/// angles. The polynomials and the order of operations are the same as in PyTorch's AVX2 build. So
/// the bits are the same if the processor has fused multiply-add.
void normal_from_uniform(float* data, std::int64_t blocks, float mean, float std);

/// The same in double, with libm's functions, as in PyTorch.
void normal_from_uniform(double* data, std::int64_t blocks, double mean, double std);

}  // namespace tend::kernels
