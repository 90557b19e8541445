#pragma once

namespace tend::kernels {

/// Highway's name of the instruction set that kernels use on this processor: "AVX2", "AVX3", ...
const char* simd_target();

}  // namespace tend::kernels
