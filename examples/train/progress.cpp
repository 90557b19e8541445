#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

#include "format.h"

namespace train {

namespace {

/// What fits a line of the terminal: a longer one would wrap, and could not be overwritten.
std::size_t columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 79U;
}

}  // namespace

std::string progress_line(const Standing& s) {
  return "step " + std::to_string(s.step) + "/" + std::to_string(s.steps) + "  " +
         duration(s.seconds_left) + " left  loss " + fixed(s.loss, 4) + "  held out " +
         fixed(s.held_out_loss, 4) + ", " + percent(s.exact_match) + " exact  " +
         fixed(s.tokens_per_second / 1000, 0) + "k tokens/s";
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::show(const Standing& standing) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(80);
  std::cerr << "\r" << progress_line(standing).substr(0, columns()) << "\x1b[K" << std::flush;
}

}  // namespace train
