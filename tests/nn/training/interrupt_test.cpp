#include <sys/wait.h>
#include <tend/nn/training/interrupt.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <thread>

#include "tests/catch.h"
#include "tests/end_child.h"

using tend::nn::InterruptGuard;

namespace {

// Runs `f` in a child process. Returns the number of the signal that ended the process, 0 if `f`
// returned true, or -1 if `f` returned false.
int ending_of(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // removes the test framework's handlers
    std::signal(SIGTERM, SIG_DFL);
    tend::test::end_child(f() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("A signal is recorded while a guard lives, and a second one ends the process") {
  CHECK(ending_of([] {
          const InterruptGuard guard;
          std::raise(SIGINT);
          return InterruptGuard::signal() == SIGINT;
        }) == 0);
  CHECK(ending_of([] {
          const InterruptGuard guard;
          std::raise(SIGINT);
          std::raise(SIGTERM);
          return true;
        }) == SIGTERM);
  CHECK(ending_of([] {
          { const InterruptGuard guard; }
          std::raise(SIGINT);
          return true;
        }) == SIGINT);
}

TEST_CASE("Nested guards count the signals together") {
  CHECK(ending_of([] {
          const InterruptGuard outer;
          {
            const InterruptGuard inner;
            std::raise(SIGINT);
          }
          std::raise(SIGINT);
          return true;
        }) == SIGINT);
  CHECK(ending_of([] {
          const InterruptGuard outer;
          std::raise(SIGINT);
          const InterruptGuard inner;
          std::raise(SIGINT);
          return true;
        }) == SIGINT);
  CHECK(ending_of([] {
          std::optional<InterruptGuard> first(std::in_place);
          const InterruptGuard second;
          first.reset();  // the handlers stay while a guard lives
          std::raise(SIGINT);
          return InterruptGuard::signal() == SIGINT;
        }) == 0);
}

TEST_CASE("A new guard does not have the signal of an earlier guard") {
  CHECK(ending_of([] {
          {
            const InterruptGuard guard;
            std::raise(SIGINT);
          }
          if (InterruptGuard::signal() != SIGINT) return false;
          const InterruptGuard guard;
          if (InterruptGuard::signal() != 0) return false;
          std::raise(SIGTERM);
          return InterruptGuard::signal() == SIGTERM;
        }) == 0);
}

TEST_CASE("After another process's signal the first signal of this process is only recorded") {
  CHECK(ending_of([] {
          const InterruptGuard guard;
          InterruptGuard::note(SIGINT);
          std::raise(SIGTERM);
          return InterruptGuard::signal() == SIGTERM;
        }) == 0);
}
