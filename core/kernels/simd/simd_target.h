#pragma once

namespace tend::kernels {

/// The instruction set that kernels use on this processor, by Highway's name: "AVX2", "AVX3", ...
const char* simd_target();

/// Disables the instruction sets that are better than the one named by the environment variable
/// TEND_SIMD.
///
/// This affects all code in the process that uses Highway's dispatch. If TEND_SIMD is another text,
/// or an instruction set that this processor does not have, nothing changes. The library calls this
/// function when it is loaded, before any kernel runs. It always returns 0.
int limit_simd_targets();

}  // namespace tend::kernels
