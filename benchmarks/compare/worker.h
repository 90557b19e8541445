// A worker: a process that does the rows' work with one library. It obeys the lines of its standard
// input, one at a time, and sleeps between them:
//
//   about                 -> about TEXT         what it computes with
//   prepare OP SIZE... [WAY] -> ready [WAY] | unsupported
//                                               a library that knows several ways to do the work
//                                               takes the fastest, or the one that is named
//   result FILE           -> done COUNT         does the work once, writes COUNT tensors to FILE:
//                                               for each a 64-bit size, and so many floats
//   time MILLISECONDS     -> seconds S          of one piece of work, timed for at least so long
//   memory                -> bytes RESIDENT ALLOCATED    peaks: of the process since `prepare`
//                                               ended, of tensors since it began, each beyond what
//                                               there was before
//   release               -> done 0             forgets the work
//
// A line that cannot be obeyed is answered with `failed REASON`.
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
  std::string way;  // "" where the worker shall choose

  std::int64_t operator[](std::size_t i) const { return sizes.at(i); }
};

/// The tensors whose values are compared. Of large ones only some elements are kept.
class Result {
 public:
  void add(std::span<const float> values);
  const std::vector<std::vector<float>>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<float>> tensors_;
};

/// How a library does a work. `run` is empty if it cannot.
struct Task {
  std::function<void(std::int64_t count)> run;
  /// Does the work once.
  std::function<void(Result&)> result;
  /// The name of the way, where there are several; one word.
  std::string way = {};
};

/// The Task whose work is once().
template <class Once, class Read>
Task make_task(Once once, Read read) {
  return {[once](std::int64_t count) mutable {
            for (std::int64_t i = 0; i < count; ++i) once();
          },
          std::move(read)};
}

/// The Task whose work is object->run(), with object->output() as its result.
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

/// A library, as a worker sees it.
struct Library {
  std::function<std::string(const Setup&)> about;
  std::function<Task(const Work&, const Setup&)> prepare;
  /// The most bytes that tensors held since the last call; empty if the library does not count
  /// them.
  std::function<std::int64_t()> peak_bytes = {};
};

/// The main function of a worker.
int serve(int argc, char** argv, const Library& library);

/// Version and core type of the OpenBLAS that the process has loaded; "" if there is none.
std::string openblas_facts();

}  // namespace compare
