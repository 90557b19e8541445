// Sums over processes whose bits do not depend on when messages come. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {

/// The sum of a vector over all processes, a power of two of them, on its way: process 0 and 1 are
/// added, 2 and 3, and so on; then the sums of these pairs, up to one tree over all. Each process
/// adds a part of the elements and collects the other parts, so that it sends less than twice the
/// vector whatever their number (recursive halving and doubling; Thakur, Rabenseifner and Gropp,
/// "Optimization of Collective Communication Operations in MPICH", 2005).
class PairwiseSum {
 public:
  /// `values` is one-dimensional, contiguous, and holds this process's summands. The tag is the
  /// same on all processes, and no other sum's that is on its way.
  PairwiseSum(const Communicator& communicator, int tag, Array values);
  PairwiseSum(const PairwiseSum&) = delete;
  PairwiseSum& operator=(const PairwiseSum&) = delete;

  /// Goes on as far as that needs no waiting; whether the sum is there.
  bool advance();
  void wait();

  /// The sum, once it is there.
  const Array& values() const noexcept { return values_; }
  std::int64_t bytes_sent() const noexcept { return bytes_sent_; }

 private:
  struct Range {
    std::int64_t begin, end;
  };

  bool is_done() const noexcept { return !exchange_; }
  std::span<std::byte> bytes(const Array& array, Range range) const;
  /// The half of a range that this process adds at a level, and its partner's.
  Range half(Range range, bool is_own, int level) const;
  int partner(int level) const;
  void exchange(int level, Range out, const Array& into, Range in);
  void begin_adding();
  void begin_collecting();
  /// After an exchange has ended: uses what came, and begins the next one.
  void go_on();

  const Communicator* communicator_;
  int tag_;
  int levels_ = 0;
  Array values_, received_;
  std::vector<Range> ranges_;  // before the first level, and after each
  bool adds_ = true;           // else it collects
  std::optional<Communicator::Exchange> exchange_;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace tend::distributed
