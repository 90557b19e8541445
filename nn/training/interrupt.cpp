#include <tend/nn/training/interrupt.h>

#include <csignal>

namespace tend::nn {
namespace {

volatile std::sig_atomic_t noted = 0;

int guards = 0;
struct sigaction before_int = {}, before_term = {};  // the actions that the outermost guard found

void note_signal(int signal) {
  noted = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() noexcept {
  if (guards++ > 0) return;
  noted = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // reads and writes continue after the signal
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
}

int InterruptGuard::signal() noexcept {
  return noted;
}

void InterruptGuard::note(int signal) noexcept {
  noted = signal;
}

}  // namespace tend::nn
