// Calls that nest deeper than a thread's stack.
#include <tend/core/base/stack.h>

#include <stdexcept>
#include <thread>

#include <tend/core/base/error.h>

#include "tests/catch.h"

using namespace tend;

namespace {

// Adds 1 for each of `depth` calls in one another, each of which takes `kBytes` of the stack.
constexpr std::size_t kBytes = 100'000;

[[gnu::noinline]] std::int64_t nest(std::int64_t depth, bool fails) {
  volatile char frame[kBytes];
  // Written and read where the compiler cannot know, so that the whole frame stays.
  const std::size_t place = static_cast<std::size_t>(depth) % kBytes;
  frame[place] = 1;
  std::int64_t below = 0;
  with_stack("nest", [&] {
    if (depth > 1) {
      below = nest(depth - 1, fails);
    } else if (fails) {
      throw std::runtime_error("at the bottom");
    }
  });
  return below + frame[place];
}

}  // namespace

TEST_CASE("Calls nest deeper than the stack, and their results and exceptions come back") {
  constexpr std::int64_t kDepth = 3000;  // 300 MB
  CHECK(nest(kDepth, false) == kDepth);
  CHECK_THROWS_AS(nest(kDepth, true), std::runtime_error);
  CHECK(nest(kDepth, false) == kDepth);
}

TEST_CASE("Threads with small stacks nest calls, too") {
  std::int64_t result = 0;
  std::thread([&] { result = nest(2000, false); }).join();
  CHECK(result == 2000);
}

TEST_CASE("Calls that nest too deep are an error that names the limit, and others work on") {
  CHECK_THROWS_WITH(nest(1'000'000, false),
                    "[nest] calls are nested too deep: they need more than 1024 MiB of stack");
  CHECK(nest(100, false) == 100);
}
