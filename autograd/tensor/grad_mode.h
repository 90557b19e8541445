// Grad mode: whether operations record a graph. Each thread has its own.
#pragma once

#include <utility>

#include <tend/core/base/strict.h>

namespace tend {

namespace detail {
// It is in the header so that operations read it without a call.
inline constinit thread_local bool grad_mode = true;
}  // namespace detail

/// True if operations on this thread record what backward needs. It is true at the start of a
/// thread.
inline bool grad_enabled() noexcept {
  return detail::grad_mode;
}

/// Sets the grad mode of this thread during its lifetime.
///
/// Destroy guards in the reverse order of their construction, on the thread that made them.
class GradModeGuard {
 public:
  [[nodiscard]] explicit GradModeGuard(Flag enabled) noexcept
      : before_(std::exchange(detail::grad_mode, enabled)) {}
  ~GradModeGuard() { detail::grad_mode = before_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
};

/// Turns recording off during its lifetime (torch.no_grad).
class NoGradGuard : public GradModeGuard {
 public:
  [[nodiscard]] NoGradGuard() noexcept : GradModeGuard(false) {}
};

/// Turns recording off during its lifetime: NoGradGuard under the name of torch.inference_mode.
///
/// With `enabled` false, grad mode is on during its lifetime. PyTorch restricts the tensors that
/// are made in this mode; tend does not.
class InferenceModeGuard : public GradModeGuard {
 public:
  [[nodiscard]] explicit InferenceModeGuard(Flag enabled = true) noexcept
      : GradModeGuard(!enabled) {}
};

}  // namespace tend
