#include "examples/train/run/interrupt.h"

#include <csignal>

namespace train {

namespace {

volatile std::sig_atomic_t seen = 0;

extern "C" void note_interrupt(int signal) {
  seen = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void note_interrupts() {
  std::signal(SIGINT, note_interrupt);
}

bool interrupted() {
  return seen != 0;
}

}  // namespace train
