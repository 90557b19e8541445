// Runs tests on every SIMD target.
#pragma once

#include <cstdint>
#include <string>

#include <tend/core/kernels/simd/simd_targets.h>
// The header above must come before any header of Highway.
#include <hwy/targets.h>

namespace tend::test {

/// Calls f(name) once for each SIMD target of this processor. tend uses the target during the call.
template <class F>
void for_each_simd_target(F f) {
  struct Restore {
    ~Restore() { choose(0); }
    static void choose(std::int64_t target) {
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  } restore;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    Restore::choose(target);
    f(std::string(hwy::TargetName(target)));
  }
}

}  // namespace tend::test
