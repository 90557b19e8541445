// Whether operations record a graph, per thread.
#pragma once

#include <cstdint>

#include <tend/core/base/strict.h>

namespace tend {

namespace detail {
// Read by every operation, hence here.
inline constinit thread_local bool grad_mode = true;
inline constinit thread_local bool inference_mode = false;
}  // namespace detail

/// True when operations on this thread record what backward needs: grad mode is on, as it is at the
/// start of every thread, and inference mode is off.
inline bool grad_enabled() noexcept {
  return detail::grad_mode && !detail::inference_mode;
}

/// Sets the mode for its lifetime on this thread. Guards end in the opposite order of their
/// beginning, on the thread where they began: on another one the end does nothing.
class GradModeGuard {
 public:
  explicit GradModeGuard(Flag enabled) noexcept;
  ~GradModeGuard();
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
  std::uint64_t thread_;
};

/// No graph while it lives (torch.no_grad).
class NoGradGuard : public GradModeGuard {
 public:
  NoGradGuard() noexcept : GradModeGuard(false) {}
};

inline bool inference_mode_enabled() noexcept {
  return detail::inference_mode;
}

/// No graph while it lives, nor later for what was made meanwhile: an AutogradError tells of an
/// inference tensor that is to be saved for backward, or written in place outside of inference
/// mode. A clone of it is a usual tensor. With `enabled` false, both modes are as usual inside
/// (torch.inference_mode). It ends as a GradModeGuard does.
class InferenceModeGuard {
 public:
  explicit InferenceModeGuard(Flag enabled = true) noexcept;
  ~InferenceModeGuard();
  InferenceModeGuard(const InferenceModeGuard&) = delete;
  InferenceModeGuard& operator=(const InferenceModeGuard&) = delete;

 private:
  GradModeGuard grad_mode_;
  bool before_;
  std::uint64_t thread_;
};

}  // namespace tend
