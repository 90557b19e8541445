#pragma once

namespace tend::kernels {

/// Highway's name of the instruction set that kernels use on this processor: "AVX2", "AVX3", ...
const char* simd_target();

/// Disables the instruction sets above the one that the environment variable TEND_SIMD names, for
/// all code of the process that Highway dispatches. Another text, or an instruction set that this
/// processor does not have, changes nothing. Called when the library is loaded, before any kernel
/// runs.
int limit_simd_targets();

}  // namespace tend::kernels
