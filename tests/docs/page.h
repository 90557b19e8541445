// Runs the C++ blocks of a page. generate.cpp turns them into a source.
#pragma once

#include <sstream>
#include <string>

namespace tend::test {

/// The blocks of a page. The constructor registers them for main.
class Page {
 public:
  Page(const char* name, void (*run)());
};

/// Captures what the program prints to std::cout during the lifetime of this object.
class Printed {
 public:
  Printed();
  ~Printed();
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  /// Throws std::runtime_error unless exactly `text` was printed since the last call. `place`, a
  /// page and a line, is part of the message.
  void expect(const char* place, const std::string& text);
  /// Accepts any output since the last call.
  void pass() { text_.str(""); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

/// Throws std::runtime_error if `code`, which a program of a page returned, is not 0.
void expect_success(const char* place, int code);

}  // namespace tend::test
