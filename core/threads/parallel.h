// Parallel loops, run by the library's only team of threads.
#pragma once

#include <cstdint>

#include <tend/core/base/function_ref.h>

namespace tend {

/// Threads that parallel_for may use, the caller included.
int num_threads();
inline constexpr int kMaxThreads = 1024;
/// Sets that number. Results have the same bits for every count.
///
/// Throws:
///   Error  - the count is not from 1 to kMaxThreads, or the call is inside a parallel_for that has
///            divided its work
void set_num_threads(int count);

namespace detail {
using RangeFunction = FunctionRef<void(std::int64_t begin, std::int64_t end)>;
void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction f);
}  // namespace detail

/// Calls f(chunk_begin, chunk_end) over [begin, end) in chunks of `grain` (the last may be
/// shorter; a grain below 1 counts as 1). The chunks depend on the sizes only, never on the number
/// of threads. A single chunk, or a call from inside another parallel_for, runs inline. An
/// exception thrown by f is rethrown here after all chunks have ended.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& f) {
  if (end <= begin) return;
  const std::uint64_t size = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  if (grain > 0 && size <= static_cast<std::uint64_t>(grain)) {
    f(begin, end);
    return;
  }
  const auto call = [&f](auto first, auto last) { f(first, last); };  // f may be a plain function
  detail::run_chunks(begin, end, grain, call);
}

}  // namespace tend
