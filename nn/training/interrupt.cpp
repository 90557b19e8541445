#include <tend/nn/training/interrupt.h>

#include <csignal>
#include <mutex>

namespace tend::nn {
namespace {

volatile std::sig_atomic_t noted = 0;
volatile std::sig_atomic_t hears_int = 0, hears_term = 0;

// The actions that the first of the living guards found.
struct {
  std::mutex mutex;
  int guards = 0;
  struct sigaction before_int = {}, before_term = {};
} actions;

extern "C" void note_signal(int signal) {
  noted = signal;
  if (hears_int != 0) std::signal(SIGINT, SIG_DFL);
  if (hears_term != 0) std::signal(SIGTERM, SIG_DFL);
}

// A signal that the program ignores, as a shell's background job does Ctrl-C, is left alone.
// Returns whether it is not.
bool listen(int signal, struct sigaction& before) {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // what is being read or written goes on
  sigaction(signal, &action, &before);
  if (before.sa_handler != SIG_IGN) return true;
  sigaction(signal, &before, nullptr);
  return false;
}

}  // namespace

InterruptGuard::InterruptGuard() noexcept {
  const std::lock_guard lock(actions.mutex);
  if (actions.guards++ > 0) return;
  noted = 0;
  hears_int = listen(SIGINT, actions.before_int) ? 1 : 0;
  hears_term = listen(SIGTERM, actions.before_term) ? 1 : 0;
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(actions.mutex);
  if (--actions.guards > 0) return;
  sigaction(SIGINT, &actions.before_int, nullptr);
  sigaction(SIGTERM, &actions.before_term, nullptr);
}

int InterruptGuard::signal() noexcept {
  return noted;
}

void InterruptGuard::note(int signal) noexcept {
  noted = signal;
}

}  // namespace tend::nn
