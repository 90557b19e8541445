#include <tend/nn/training/progress_line.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace tend::nn {
namespace {

bool can_redraw() {
  const char* const type = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && type != nullptr && *type != '\0' &&
         std::string_view(type) != "dumb";
}

// The length of a line that fits the terminal. A longer line would wrap and could not be
// overwritten.
std::size_t columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 79U;
}

}  // namespace

ProgressLine::ProgressLine() : redraws_(can_redraw()), next_(Clock::now()) {
  if (!redraws_) next_ += std::chrono::seconds(2);
}

void ProgressLine::show(const std::string& line) {
  if (redraws_) {
    next_ = Clock::now() + std::chrono::milliseconds(80);
    std::cerr << "\r" << line.substr(0, columns()) << "\x1b[K" << std::flush;
  } else {
    next_ = Clock::now() + std::chrono::seconds(10);
    std::cerr << line << std::endl;
  }
  is_shown_ = redraws_;
}

void ProgressLine::clear() {
  if (is_shown_) std::cerr << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace tend::nn
