// What runs the C++ blocks of a page, which generate.cpp turns into a source.
#pragma once

#include <sstream>
#include <string>

namespace tend::test {

/// A page's blocks; makes itself known to main.
class Page {
 public:
  Page(const char* name, void (*run)());
};

/// What the program prints while this lives, instead of printing it.
class Printed {
 public:
  Printed();
  ~Printed();
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  /// Throws unless this was printed since the last call. `place` is a page and a line for the
  /// message.
  void expect(const char* place, const std::string& text);
  /// Any output will do.
  void pass() { text_.str(""); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

/// Throws where a program of a page did not return 0.
void expect_success(const char* place, int code);

}  // namespace tend::test
