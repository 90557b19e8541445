// Sums over processes, whose bits do not depend on when messages arrive. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {

/// Sums a vector over all processes, in steps between which the caller may do other work.
///
/// The number of processes is a power of two. The order is a binary tree: first processes 0 and 1,
/// 2 and 3, and so on; then the sums of neighbouring pairs. Each process adds a part of the
/// elements and receives the sums of the other parts. So each process sends less than twice the
/// bytes of the vector, for any number of processes.
///
/// Source: recursive halving and doubling; Thakur, Rabenseifner and Gropp, "Optimization of
/// Collective Communication Operations in MPICH", 2005.
class PairwiseSum {
 public:
  /// Starts the sum. `values` is one-dimensional and contiguous, and has this process's summands.
  ///
  /// The tag must be the same on all processes, and no other unfinished sum may have the same tag.
  PairwiseSum(const Communicator& communicator, int tag, Array values);
  PairwiseSum(const PairwiseSum&) = delete;
  PairwiseSum& operator=(const PairwiseSum&) = delete;

  /// Continues as far as possible without waiting. Returns true if the sum is complete.
  bool advance();
  void wait();

  /// The sum, once it is complete.
  const Array& values() const noexcept { return values_; }
  std::int64_t bytes_sent() const noexcept { return bytes_sent_; }

 private:
  struct Range {
    std::int64_t begin, end;
  };

  bool is_done() const noexcept { return !exchange_; }
  std::span<std::byte> bytes(const Array& array, Range range) const;
  /// The half of `range` that this process adds at this level of the tree, or the half that its
  /// partner adds.
  Range half(Range range, bool is_own, int level) const;
  int partner(int level) const;
  void exchange(int level, Range out, const Array& into, Range in);
  void begin_adding();
  void begin_collecting();
  /// Uses the data of an exchange that has ended, and begins the next exchange.
  void go_on();

  const Communicator* communicator_;
  int tag_;
  int levels_ = 0;
  Array values_, received_;
  std::vector<Range> ranges_;  // all elements, then the half that this process adds at each level
  bool adds_ = true;           // false while sums are received
  std::optional<Communicator::Exchange> exchange_;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace tend::distributed
