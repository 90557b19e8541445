// Whether operations record a graph, per thread.
#pragma once

namespace tend {

/// True when operations on this thread record what backward needs. On at the start of every thread.
bool grad_enabled() noexcept;

/// Sets the mode for its lifetime on this thread.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled) noexcept;
  ~GradModeGuard();
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool before_;
};

/// No graph while it lives (torch.no_grad).
class NoGradGuard : public GradModeGuard {
 public:
  NoGradGuard() noexcept : GradModeGuard(false) {}
};

}  // namespace tend
