// Parallel loops. The library has one team of threads, which runs all parallel loops.
#pragma once

#include <cstdint>

#include <tend/core/base/function_ref.h>

namespace tend {

/// The number of threads that parallel_for may use, including the caller.
int num_threads();
inline constexpr int kMaxThreads = 1024;
/// Sets the number of threads that parallel_for may use. Results have the same bits for every
/// count.
///
/// Throws:
///   Error - the count is not from 1 to kMaxThreads
///   Error - the call is inside a parallel_for that has divided its work
void set_num_threads(int count);

namespace detail {
using RangeFunction = FunctionRef<void(std::int64_t begin, std::int64_t end)>;
void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction f);
}  // namespace detail

/// Divides [begin, end) into chunks of `grain` indices and calls f(chunk_begin, chunk_end) for
/// each chunk.
///
/// The last chunk may be shorter. A grain below 1 counts as 1. The chunks depend only on the sizes,
/// never on the number of threads. A single chunk runs on the calling thread, and so does a call
/// from inside another parallel_for. If f throws, parallel_for rethrows the first exception after
/// all chunks have ended.
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
