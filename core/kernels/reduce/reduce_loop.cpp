// The loop of all reductions: the order in which elements are reduced, and how the work is shared
// among threads.
#include <tend/core/kernels/reduce/reduce_loop.h>

#include <array>
#include <bit>
#include <cstring>

#include <tend/core/array/collapsed_dims.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels::detail {
namespace {

/// Dimensions of the input and of the output; steps are in elements.
using ReduceDims = CollapsedDims<2>;
constexpr std::size_t kIn = 0, kOut = 1;

/// A reduction as `groups` x `across` results, each of which reduces `outer` x `down` elements.
struct ReducePlan {
  ReduceDims groups, outer;
  ReduceDims::Dim across, down;

  ReducePlan(const Array& out, const Array& a, const Shape& dims) {
    const bool keepdim = out.rank() == a.rank();
    const bool nothing = a.numel() == 0;  // an empty array can have any strides
    std::int64_t out_dim = 0;
    for (std::int64_t d = 0; d < a.rank(); ++d) {
      const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
      if (reduced) {
        outer.push("reduce", {nothing ? 0 : a.shape()[d], {nothing ? 0 : a.strides()[d], 0}});
      } else {
        groups.push("reduce",
                    {a.shape()[d], {nothing ? 0 : a.strides()[d], out.strides()[out_dim]}});
      }
      if (!reduced || keepdim) ++out_dim;
    }
    groups.sort_by(kIn);
    if (outer.count() >= kInOrder) sort_outer();
    down = outer.pop();
    across = groups.pop();
    const bool columns = across.step[kIn] < down.step[kIn] || down.size == 1;
    if (across.size > 1 && (columns || rows())) return;
    groups.push("reduce", across);  // nothing is contiguous, so results are computed one by one
    across = {1, {}};
  }
  /// True if the elements of a sum are contiguous.
  bool rows() const { return down.step[kIn] == 1; }

 private:
  // Sorts the reduced dimensions by stride, so that many elements are reduced in memory order.
  // Pushing them again collapses neighbouring dimensions.
  void sort_outer() {
    outer.sort_by(kIn);
    ReduceDims sorted;
    for (std::size_t d = 0; d < outer.rank(); ++d) sorted.push("reduce", outer[d]);
    outer = sorted;
  }
};

constexpr std::int64_t kStripElements = 16384;  // elements of all rows that are reduced together

/// Memory for the sums of a strip.
struct Sums {
  alignas(std::max_align_t) std::array<std::byte, kStripBytes> bytes;

  std::byte* data() { return bytes.data(); }
  const std::byte* data() const { return bytes.data(); }
};

/// Combines the results of blocks in a binary tree. Two results are combined if they cover the same
/// number of blocks, so errors grow with the logarithm of the number of blocks.
class Cascade {
 public:
  Cascade(const ReduceFunctions& op, std::int64_t width) : op_(op), width_(width) {}

  void push(std::byte* block) {
    std::size_t level = 0;
    for (; (blocks_ >> level & 1) != 0; ++level) op_.combine(levels_[level].data(), block, width_);
    std::memcpy(levels_[level].data(), block, static_cast<std::size_t>(width_ * op_.sum_size));
    ++blocks_;
  }
  void finish(std::byte* result) const {
    op_.set_identity(result, width_);
    for (std::size_t level = 0; blocks_ >> level != 0; ++level) {
      if ((blocks_ >> level & 1) != 0) op_.combine(levels_[level].data(), result, width_);
    }
  }

 private:
  const ReduceFunctions& op_;
  std::int64_t width_;
  std::uint64_t blocks_ = 0;
  std::array<Sums, 48> levels_;
};

/// Neighbouring results of a reduction.
struct Strip {
  const std::byte* from;  // the first element of the first result
  std::int64_t to;        // the offset of the first result in the output
  std::int64_t width;     // the number of results
};

/// Reduces `a` over `dims` into `out`, in strips of results and segments of elements. If there are
/// only a few long sums, they are cut into segments, which several threads may reduce.
class Reducer {
 public:
  Reducer(const Array& out, const Array& a, const Shape& dims, const ReduceFunctions& op,
          BlockFunction reduce_block, StoreFunction store)
      : plan_(out, a, dims),
        op_(op),
        reduce_block_(reduce_block),
        store_(store),
        from_(static_cast<const std::byte*>(a.raw())),
        length_(plan_.outer.count() * plan_.down.size),
        width_(std::min(plan_.across.size, strip_width())),
        strips_across_((plan_.across.size - 1) / width_ + 1),
        strips_(plan_.groups.count() * strips_across_),
        block_(plan_.rows() ? kBlock : kBlockOfColumns),
        blocks_in_row_((plan_.down.size + block_ - 1) / block_),
        blocks_(plan_.outer.count() * blocks_in_row_),
        segment_(std::max<std::int64_t>(blocks_, 1)) {
    constexpr std::int64_t kMaxSegments = 64, kFewStrips = 16;
    if (strips_ < kFewStrips && length_ > 0) {
      // A segment is a whole branch of the tree of blocks, so that the bits of a sum do not depend
      // on the number of strips.
      const std::int64_t elements = std::max(length_ / kMaxSegments + 1, kWork / width_);
      const std::int64_t blocks = (elements - 1) / (length_ / blocks_) + 1;
      segment_ = std::min(
          segment_, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks))));
    }
    segments_ = std::max<std::int64_t>((blocks_ + segment_ - 1) / segment_, 1);
  }

  void run() {
    // With a single segment per strip, there are no partial sums to combine.
    if (segments_ > 1)
      partial_ = scratch<std::byte>("reduce", strips_ * segments_ * width_ * op_.sum_size);
    const std::int64_t each = std::max<std::int64_t>(length_ / segments_, 1) * width_;
    const std::int64_t grain = kWork / 2 / each + 1;
    parallel_for(0, strips_ * segments_, grain, [this](std::int64_t begin, std::int64_t end) {
      Sums sums;
      for (std::int64_t task = begin; task < end; ++task) {
        const Strip strip = strip_at(task / segments_);
        const std::int64_t first = task % segments_ * segment_;  // the number of a block
        std::byte* const result = segments_ > 1 ? partial_sums(task) : sums.data();
        reduce_strip(result, strip, begin_of(first), begin_of(std::min(first + segment_, blocks_)));
        if (segments_ == 1) store(strip, sums);
      }
    });
    if (segments_ > 1) join_segments();
  }

 private:
  static constexpr std::int64_t kWork = 65536;  // elements that are worth another thread
  static constexpr std::int64_t kBlockOfColumns = 64;

  /// The index of a block's first element among the elements of a sum. Every row begins with a new
  /// block.
  std::int64_t begin_of(std::int64_t block) const {
    if (blocks_in_row_ == 0) return 0;
    return block / blocks_in_row_ * plan_.down.size + block % blocks_in_row_ * block_;
  }

  std::int64_t strip_width() const {
    if (!plan_.rows() || length_ == 0) return op_.strip_width;
    return std::clamp<std::int64_t>(kStripElements / length_, 1, op_.strip_width);
  }

  Strip strip_at(std::int64_t number) const {
    ReduceDims::Steps at = plan_.groups.offset(number / strips_across_);
    const std::int64_t left = number % strips_across_ * width_;
    for (const std::size_t k : {kIn, kOut}) at[k] += left * plan_.across.step[k];
    return {element(from_, at[kIn]), at[kOut], std::min(width_, plan_.across.size - left)};
  }

  const std::byte* element(const std::byte* from, std::int64_t steps) const {
    return from + steps * op_.element_size;
  }
  std::byte* partial_sums(std::int64_t task) {
    return partial_.data() + task * width_ * op_.sum_size;
  }

  /// result[j] = the reduction of elements [begin, end) of sum j of the strip.
  void reduce_strip(std::byte* result, const Strip& strip, std::int64_t begin,
                    std::int64_t end) const {
    if (op_.add == nullptr || length_ >= kInOrder) return reduce_blocks(result, strip, begin, end);
    op_.set_identity(result, strip.width);
    for_runs(strip.from, begin, end, kInOrder, [&](const std::byte* run, std::int64_t count) {
      op_.add(result, run, count, plan_.down.step[kIn], strip.width, plan_.across.step[kIn]);
    });
  }

  /// As reduce_strip, for many elements: reduces them in blocks, and combines the blocks in a tree.
  void reduce_blocks(std::byte* result, const Strip& strip, std::int64_t begin,
                     std::int64_t end) const {
    const std::int64_t down = plan_.down.step[kIn], across = plan_.across.step[kIn];
    const std::int64_t max_count = plan_.rows() && op_.is_exact ? end - begin : block_;
    if (end <= plan_.down.size && end - begin <= max_count)  // a single block
      return reduce_block_(result, element(strip.from, begin * down), end - begin, down,
                           strip.width, across);
    Sums block;
    Cascade cascade(op_, strip.width);
    // Several blocks of a single sum are computed in one call.
    const bool joined = strip.width == 1 && plan_.rows() && !op_.is_exact;
    const std::int64_t run_length = joined ? kTogether * max_count : max_count;
    for_runs(strip.from, begin, end, run_length, [&](const std::byte* run, std::int64_t count) {
      const std::int64_t whole = joined ? count / max_count : 0, done = whole * max_count;
      if (whole > 0) reduce_block_(block.data(), run, max_count, 1, whole, max_count);
      for (std::int64_t i = 0; i < whole; ++i) cascade.push(block.data() + i * op_.sum_size);
      if (done == count) return;
      reduce_block_(block.data(), element(run, done), count - done, down, strip.width, across);
      cascade.push(block.data());
    });
    cascade.finish(result);
  }

  /// Splits the elements [begin, end) of a sum into runs of at most `max_count` evenly spaced
  /// elements, and calls f(run, count) for each run.
  template <class F>
  void for_runs(const std::byte* from, std::int64_t begin, std::int64_t end, std::int64_t max_count,
                F f) const {
    const std::int64_t length = plan_.down.size;
    while (begin < end) {
      const std::int64_t row = begin / length, row_end = std::min((row + 1) * length, end);
      const std::byte* const elements = element(from, plan_.outer.offset(row)[kIn]);
      while (begin < row_end) {
        const std::int64_t count = std::min(row_end - begin, max_count);
        f(element(elements, (begin - row * length) * plan_.down.step[kIn]), count);
        begin += count;
      }
    }
  }

  void store(const Strip& strip, const Sums& sums) const {
    store_(strip.to, plan_.across.step[kOut], sums.data(), strip.width);
  }

  void join_segments() {
    Sums sums;
    for (std::int64_t number = 0; number < strips_; ++number) {
      const Strip strip = strip_at(number);
      Cascade cascade(op_, strip.width);
      for (std::int64_t s = 0; s < segments_; ++s)
        cascade.push(partial_sums(number * segments_ + s));
      cascade.finish(sums.data());
      store(strip, sums);
    }
  }

  ReducePlan plan_;
  const ReduceFunctions& op_;
  BlockFunction reduce_block_;
  StoreFunction store_;
  const std::byte* from_;
  std::int64_t length_, width_, strips_across_, strips_;
  std::int64_t block_;                             // elements of a sum that are reduced at once
  std::int64_t blocks_in_row_, blocks_, segment_;  // segment_: the number of blocks in a segment
  std::int64_t segments_;
  Scratch<std::byte> partial_;
};

}  // namespace

void reduce(const Array& out, const Array& a, const Shape& dims, const ReduceFunctions& op,
            BlockFunction reduce_block, StoreFunction store) {
  if (out.numel() > 0) Reducer(out, a, dims, op, reduce_block, store).run();
}

}  // namespace tend::kernels::detail
