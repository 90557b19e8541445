#include <tend/core/base/fork_gate.h>

namespace tend::detail {

alignas(64) constinit std::atomic<std::uint32_t> ForkGate::state_ = 0;

void ForkGate::wait_outside() noexcept {
  do {
    leave();
    for (std::uint32_t seen = state_; (seen & kClosed) != 0; seen = state_) state_.wait(seen);
  } while ((state_.fetch_add(kOne, std::memory_order_acquire) & kClosed) != 0);
}

void ForkGate::close() noexcept {
  for (std::uint32_t seen = state_.fetch_or(kClosed) | kClosed; seen != kClosed; seen = state_)
    state_.wait(seen);
}

void ForkGate::open() noexcept {
  state_.fetch_and(~kClosed);
  state_.notify_all();
}

void ForkGate::reset() noexcept {
  state_ = 0;
}

}  // namespace tend::detail
