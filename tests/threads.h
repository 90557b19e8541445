// What tests of several threads share.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "tests/end_child.h"
#include "tests/sanitizers.h"

// The thread sanitizer has no threads after a fork, and the locks of the address sanitizer's memory
// may stay closed in the child (a program of malloc and fork alone shows it).
#define TEND_TEST_FORK (!TEND_TEST_TSAN && !TEND_TEST_ASAN)

namespace tend::test {

/// Runs f(0), f(1), ... on threads of their own that start together.
template <class F>
void together(int count, F f) {
  std::atomic<int> waiting{count};
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      try {
        f(i);
      } catch (...) {
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// The exit status of a child process that runs f(), which returns whether all is right: 0 then.
/// A child that hangs is ended after 20 seconds.
template <class F>
int status_of_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool is_right = false;
    try {
      is_right = f();
    } catch (...) {  // nothing may unwind into the parent's code
    }
    end_child(is_right ? 0 : 1);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

/// Forks `count` times while threads run work(i) again and again, each with its own i from 1 on.
/// The child does work(0), also on a thread of its own. How many of the children failed; the first
/// that does ends it.
template <class Work>
int failed_children(int count, Work work) {
  constexpr int kThreads = 3;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&, i] {
      while (!done) work(i);
    });
  }
  int failed = 0;
  for (int i = 0; i < count && failed == 0; ++i) {
    const int status = status_of_child([&] {
      work(0);
      std::thread([&] { work(0); }).join();
      work(0);
      return true;
    });
    if (status != 0) ++failed;
    if (i % 4 == 0) std::this_thread::yield();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  return failed;
}

}  // namespace tend::test
