// The vectorised part of drawing normal numbers.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// Turns each block of 16 uniforms in [0, 1) into 16 numbers from N(mean, std^2) by the method of
/// Box and Muller: the first eight of a block give the radii, the others the angles. The
/// polynomials and the order of operations are those of PyTorch's AVX2 build, so the bits are too
/// wherever the processor has fused multiply-add.
void normal_from_uniform(float* data, std::int64_t blocks, float mean, float std);

/// The same in double, with libm's functions, as PyTorch has it.
void normal_from_uniform(double* data, std::int64_t blocks, double mean, double std);

}  // namespace tend::kernels
