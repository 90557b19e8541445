#include <tend/nn/training/interrupt.h>

#include <csignal>
#include <mutex>

namespace tend::nn {
namespace {

volatile std::sig_atomic_t noted = 0;

// The actions that the first of the living guards found.
struct {
  std::mutex mutex;
  int guards = 0;
  struct sigaction before_int = {}, before_term = {};
} state;

extern "C" void note_signal(int signal) {
  noted = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() noexcept {
  const std::lock_guard lock(state.mutex);
  if (state.guards++ > 0) return;
  noted = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // what is being read or written goes on
  sigaction(SIGINT, &action, &state.before_int);
  sigaction(SIGTERM, &action, &state.before_term);
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(state.mutex);
  if (--state.guards > 0) return;
  sigaction(SIGINT, &state.before_int, nullptr);
  sigaction(SIGTERM, &state.before_term, nullptr);
}

int InterruptGuard::signal() noexcept {
  return noted;
}

void InterruptGuard::note(int signal) noexcept {
  noted = signal;
}

}  // namespace tend::nn
