#include "examples/train/run/interrupt.h"

#include <csignal>

namespace train {

namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_interrupt(int signal) {
  noted = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void note_interrupts() {
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

int interruption() {
  return noted;
}

}  // namespace train
