// Progress lines, on terminals and elsewhere. The test opens a pseudo-terminal.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "tests/catch.h"

#include <tend/nn/training/progress_line.h>

using namespace tend;

namespace {

// Sets the environment variable TERM until the destructor runs; nullptr removes TERM.
class TermGuard {
 public:
  explicit TermGuard(const char* value) {
    if (const char* const old = std::getenv("TERM")) before_ = old;
    value == nullptr ? ::unsetenv("TERM") : ::setenv("TERM", value, 1);
  }
  ~TermGuard() { before_.empty() ? ::unsetenv("TERM") : ::setenv("TERM", before_.c_str(), 1); }
  TermGuard(const TermGuard&) = delete;
  TermGuard& operator=(const TermGuard&) = delete;

 private:
  std::string before_;
};

// Returns the text that f() writes to stderr, which is a terminal with `columns` columns. The
// terminal writes \r\n at the end of a line.
std::string on_terminal(unsigned short columns, const char* term, const std::function<void()>& f) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE((::grantpt(master) == 0 && ::unlockpt(master) == 0));
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  const ::winsize size{24, columns, 0, 0};
  REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
  const TermGuard guard(term);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  f();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(terminal);
  // The text arrives a moment later. read() fails at the end, since the terminal is closed.
  std::string text;
  char bytes[256];
  for (::ssize_t count = 0; (count = ::read(master, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(count));
  ::close(master);
  return text;
}

}  // namespace

TEST_CASE("a progress line is overwritten on a terminal and fits its width") {
  bool is_due = false, is_due_at_once = true;
  const std::string text = on_terminal(20, "xterm", [&] {
    nn::ProgressLine line;
    is_due = line.is_due();
    line.show_when_due("step 1");
    is_due_at_once = line.is_due();
    line.show_when_due("not yet");
    line.show("a line of more than 20 columns");
    line.clear();
    line.clear();
  });
  CHECK(is_due);
  CHECK(!is_due_at_once);
  CHECK(text == "\rstep 1\x1b[K\ra line of more than\x1b[K\r\x1b[K");
}

TEST_CASE("a progress line ends with its object and has 79 columns if the width is unknown") {
  const std::string text = on_terminal(0, "xterm", [] {
    nn::ProgressLine line;
    line.show(std::string(100, 'x'));
  });
  CHECK(text == '\r' + std::string(79, 'x') + "\x1b[K\r\x1b[K");
}

TEST_CASE("a progress line that cannot be overwritten first appears after two seconds") {
  for (const char* term : {"dumb", "", static_cast<const char*>(nullptr)}) {
    bool is_due = true;
    const std::string text = on_terminal(20, term, [&] {
      nn::ProgressLine line;
      is_due = line.is_due();
      line.show("a line of more than 20 columns");
    });
    CHECK(!is_due);
    CHECK(text == "a line of more than 20 columns\r\n");
  }
}
