#include <tend/nn/training/interrupt.h>

namespace tend::nn {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int signal) {
  noted = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() noexcept {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // what is being read or written goes on
  sigaction(SIGINT, &action, &before_int_);
  sigaction(SIGTERM, &action, &before_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

int InterruptGuard::signal() noexcept {
  return noted;
}

void InterruptGuard::note(int signal) noexcept {
  noted = signal;
}

}  // namespace tend::nn
