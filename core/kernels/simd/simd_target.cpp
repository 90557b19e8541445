#include <tend/core/kernels/simd/simd_target.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

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

int limit_simd_targets() {
  const char* const wanted = std::getenv("TEND_SIMD");
  if (wanted == nullptr) return 0;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    // Each target is one bit, and better targets have lower bits.
    if (std::string_view(hwy::TargetName(target)) == wanted) hwy::DisableTargets(target - 1);
  }
  return 0;
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
