// How far a program is, on stderr.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace program {

/// On a terminal one line that is overwritten, and that goes with the object. Where stderr is no
/// terminal, or one that can only append (TERM=dumb, or none), a line after two seconds and then
/// every ten: nothing for a short run, and nothing that fills a log.
class ProgressLine {
 public:
  ProgressLine() : redraws_(can_redraw()), next_(Clock::now()) {
    if (!redraws_) next_ += std::chrono::seconds(2);
  }
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether the last line was there long enough to be read.
  bool is_due() const { return Clock::now() >= next_; }

  void show(const std::string& line) {
    if (redraws_) {
      next_ = Clock::now() + std::chrono::milliseconds(80);
      std::cerr << "\r" << line.substr(0, columns()) << "\x1b[K" << std::flush;
    } else {
      next_ = Clock::now() + std::chrono::seconds(10);
      std::cerr << line << std::endl;
    }
    is_shown_ = redraws_;
  }

  void show_when_due(const std::string& line) {
    if (is_due()) show(line);
  }

  /// Takes an overwritten line away, for what is printed next.
  void clear() {
    if (is_shown_) std::cerr << "\r\x1b[K" << std::flush;
    is_shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static bool can_redraw() {
    const char* const type = std::getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && type != nullptr && *type != '\0' &&
           std::string_view(type) != "dumb";
  }

  /// What fits a line of the terminal: a longer one would wrap, and could not be overwritten.
  static std::size_t columns() {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1U : 79U;
  }

  bool redraws_;
  bool is_shown_ = false;
  Clock::time_point next_;
};

}  // namespace program
