// Whether operations record a graph, per thread.
#pragma once

#include <utility>

#include <tend/core/base/strict.h>

namespace tend {

namespace detail {
// In the header, so that every operation reads it without a call.
inline constinit thread_local bool grad_mode = true;
}  // namespace detail

/// True when operations on this thread record what backward needs. Every thread starts so.
inline bool grad_enabled() noexcept {
  return detail::grad_mode;
}

/// Sets grad mode on this thread while it lives. Destroy guards in the reverse order of their
/// construction, on the thread that made them.
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

/// Nothing is recorded while it lives (torch.no_grad).
class NoGradGuard : public GradModeGuard {
 public:
  [[nodiscard]] NoGradGuard() noexcept : GradModeGuard(false) {}
};

/// Nothing is recorded while it lives: NoGradGuard under the name of torch.inference_mode. With
/// `enabled` false, grad mode is on while it lives. PyTorch's restrictions on the tensors that are
/// made meanwhile do not exist here.
class InferenceModeGuard : public GradModeGuard {
 public:
  [[nodiscard]] explicit InferenceModeGuard(Flag enabled = true) noexcept
      : GradModeGuard(!enabled) {}
};

}  // namespace tend
