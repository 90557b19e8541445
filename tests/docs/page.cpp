// docs_blocks PAGE: runs the C++ blocks of a page, such as `start`.
#include "tests/docs/page.h"

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#ifdef TEND_HAS_DISTRIBUTED
#include <optional>

#include <tend/nn/distributed/context.h>
#endif

namespace tend::test {

namespace {

std::map<std::string, void (*)()>& pages() {
  static std::map<std::string, void (*)()> known;
  return known;
}

}  // namespace

Page::Page(const char* name, void (*run)()) {
  pages()[name] = run;
}

Printed::Printed() : before_(std::cout.rdbuf(text_.rdbuf())) {}

Printed::~Printed() {
  std::cout.rdbuf(before_);
}

void Printed::expect(const char* place, const std::string& text) {
  const std::string printed = text_.str();
  pass();
  if (printed == text) return;
  throw std::runtime_error(std::string(place) + " should print\n" + text + "but it prints\n" +
                           printed);
}

void expect_success(const char* place, int code) {
  if (code == 0) return;
  throw std::runtime_error(std::string(place) + " returned " + std::to_string(code));
}

}  // namespace tend::test

int main(int argc, char** argv) {
  const auto page = tend::test::pages().find(argc == 2 ? argv[1] : "");
  if (page == tend::test::pages().end()) {
    std::cerr << "usage: docs_blocks PAGE\n";
    return 2;
  }
  try {
#ifdef TEND_HAS_DISTRIBUTED
    // MPI can start only once in a process, but the page has several programs.
    std::optional<tend::distributed::Context> context;
    if (page->first == "distributed") context.emplace(argc, argv);
#endif
    page->second();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
