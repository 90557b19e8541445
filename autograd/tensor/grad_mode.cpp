#include <tend/autograd/tensor/grad_mode.h>

#include <utility>

#include <tend/core/base/thread_number.h>

namespace tend {

GradModeGuard::GradModeGuard(Flag enabled) noexcept
    : before_(std::exchange(detail::grad_mode, enabled)), thread_(thread_number()) {}
GradModeGuard::~GradModeGuard() {
  if (thread_ == thread_number()) detail::grad_mode = before_;
}

InferenceModeGuard::InferenceModeGuard(Flag enabled) noexcept
    : grad_mode_(!enabled),
      before_(std::exchange(detail::inference_mode, enabled)),
      thread_(thread_number()) {}
InferenceModeGuard::~InferenceModeGuard() {
  if (thread_ == thread_number()) detail::inference_mode = before_;
}

}  // namespace tend
