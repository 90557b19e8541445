// Whether operations record a graph, per thread.
#pragma once

#include <cstdint>

#include <tend/core/base/strict.h>

namespace tend {

namespace detail {
// In the header, so that every operation reads them without a call.
inline constinit thread_local bool grad_mode = true;
inline constinit thread_local bool inference_mode = false;
}  // namespace detail

/// True when operations on this thread record what backward needs: grad mode is on, as it is at the
/// start of every thread, and inference mode is off.
inline bool grad_enabled() noexcept {
  return detail::grad_mode && !detail::inference_mode;
}

/// Sets grad mode on this thread while it lives. Guards are to be destroyed in the reverse order of
/// their construction, on the thread that made them; destroying one on another thread does nothing.
class GradModeGuard {
 public:
  [[nodiscard]] explicit GradModeGuard(Flag enabled) noexcept;
  ~GradModeGuard();
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
  std::uint64_t thread_;
};

/// Nothing is recorded while it lives (torch.no_grad).
class NoGradGuard : public GradModeGuard {
 public:
  [[nodiscard]] NoGradGuard() noexcept : GradModeGuard(false) {}
};

inline bool inference_mode_enabled() noexcept {
  return detail::inference_mode;
}

/// Nothing is recorded while it lives, and tensors made meanwhile stay outside of graphs: saving
/// such an inference tensor for backward, or writing to it in place outside of inference mode, is
/// an AutogradError. A clone of it is a usual tensor. With `enabled` false, inference mode is off
/// and grad mode on while it lives (torch.inference_mode). It ends as a GradModeGuard does.
class InferenceModeGuard {
 public:
  [[nodiscard]] explicit InferenceModeGuard(Flag enabled = true) noexcept;
  ~InferenceModeGuard();
  InferenceModeGuard(const InferenceModeGuard&) = delete;
  InferenceModeGuard& operator=(const InferenceModeGuard&) = delete;

 private:
  GradModeGuard grad_mode_;
  bool before_;
  std::uint64_t thread_;
};

}  // namespace tend
