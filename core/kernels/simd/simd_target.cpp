#include <tend/core/kernels/simd/simd_target.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/simd/simd_target.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(target_name);

const char* simd_target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
