// A worker: a process that does the rows' work with one library. It reads commands from its
// standard input, one on each line, and sleeps between them:
//
//   about                 -> about TEXT         the library's version and settings
//   prepare OP SIZE... [WAY] -> ready [WAY] | unsupported
//                                               prepares the work; a library that has several ways
//                                               to do it uses the fastest, or the way that is named
//   result FILE           -> done COUNT         does the work once, writes COUNT tensors to FILE:
//                                               for each its size as 64 bits, then its floats
//   time MILLISECONDS     -> seconds S          the time of one run of the work; runs are repeated
//                                               for at least MILLISECONDS
//   memory                -> bytes RESIDENT ALLOCATED    two peaks: of the process since `prepare`
//                                               ended, and of tensors since `prepare` began; memory
//                                               that was in use before `prepare` does not count
//   release               -> done 0             frees the work
//
// The answer to a command that fails is `failed REASON`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace compare {

/// One row's work: an operation and its sizes (see rows.cpp).
struct Work {
  std::string operation;
  std::vector<std::int64_t> sizes;
  std::string way;  // "" if the worker chooses

  std::int64_t operator[](std::size_t i) const { return sizes.at(i); }
};

/// The tensors whose values are compared. For large tensors, only some elements are stored.
class Result {
 public:
  void add(std::span<const float> values);
  const std::vector<std::vector<float>>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<float>> tensors_;
};

/// How a library does a row's work. `run` is empty if it cannot do the work.
struct Task {
  /// Does the work `count` times.
  std::function<void(std::int64_t count)> run;
  /// Does the work once and adds its result.
  std::function<void(Result&)> result;
  /// The name of the way, one word; empty if there is only one way.
  std::string way = {};
};

/// A Task whose work is once(). read(result) does the work and adds the result.
template <class Once, class Read>
Task make_task(Once once, Read read) {
  return {[once](std::int64_t count) mutable {
            for (std::int64_t i = 0; i < count; ++i) once();
          },
          std::move(read)};
}

/// A Task whose work is object->run(), with object->output() as its result.
template <class Object>
Task make_task(std::shared_ptr<Object> object) {
  return make_task([object] { object->run(); },
                   [object](Result& result) {
                     object->run();
                     result.add(object->output());
                   });
}

struct Setup {
  std::uint64_t seed = 0;
  int threads = 1;
};

/// The functions that connect a library with its worker.
struct Library {
  std::function<std::string(const Setup&)> about;
  std::function<Task(const Work&, const Setup&)> prepare;
  /// The peak growth of the bytes of tensors since the last call. The function is empty if the
  /// library does not count them.
  std::function<std::int64_t()> peak_bytes = {};
};

/// The main function of a worker.
int serve(int argc, char** argv, const Library& library);

/// The version and core type of the OpenBLAS that the process has loaded; "" if it has loaded none.
std::string openblas_facts();

}  // namespace compare
