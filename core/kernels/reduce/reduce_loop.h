// The loops of all reductions: the order in which elements are reduced, and how the work is shared
// among threads. "Sum" stands for the result of any operation here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <tend/core/array/array.h>
#include <tend/core/array/collapsed_dims.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {

/// The type Acc of an operation's intermediate results. The operation has, all static, `Acc
/// identity()`, `Acc load(element)` and `Acc combine(Acc, Acc)`, which is associative up to
/// rounding.
template <class Op>
using Accumulator = decltype(Op::identity());

/// A number as wide as an element, so that both are handled in vectors of as many.
template <class T>
using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// The extremes, which round nothing, so that the order of the elements matters for no more than
/// the sign of a zero.
template <class Op>
concept Exact = requires {
  requires Op::kExact;
};

/// Operations that reduce in blocks even a few elements; they have no `load`.
template <class Op>
concept InBlocks = requires {
  requires Op::kInBlocks;
};

/// block[j] = the reduction of the `count` elements from[i * down + j * across], for each j below
/// `width`. `down` or `across` is 1 where strides allow it. Blocks of a single sum may come as so
/// many sums.
template <class Op, class T>
using ReduceBlock = void (*)(Accumulator<Op>* block, const T* from, std::int64_t count,
                             std::int64_t down, std::int64_t width, std::int64_t across);

/// Dimensions of the input and of the output that is reduced into; steps are in elements.
using ReduceDims = CollapsedDims<2>;
inline constexpr std::size_t kIn = 0, kOut = 1;

namespace detail {
inline constexpr std::int64_t kInOrder = 16;  // fewer elements are reduced from left to right
}

/// A reduction seen as `groups` x `across` results, each reducing `outer` x `down` elements.
struct ReducePlan {
  ReduceDims groups, outer;
  ReduceDims::Dim across, down;

  ReducePlan(const Array& out, const Array& a, const Shape& dims) {
    const bool keepdim = out.rank() == a.rank();
    const bool nothing = a.numel() == 0;  // whose strides can be any numbers
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
    if (outer.count() >= detail::kInOrder) sort_outer();
    down = outer.pop();
    across = groups.pop();
    const bool columns = across.step[kIn] < down.step[kIn] || down.size == 1;
    if (across.size > 1 && (columns || rows())) return;
    groups.push("reduce", across);  // nothing is contiguous: one result at a time
    across = {1, {}};
  }
  /// Whether the elements of a sum are contiguous.
  bool rows() const { return down.step[kIn] == 1; }

 private:
  // Many elements are reduced as they lie in memory, where neighbouring dimensions may be one.
  void sort_outer() {
    outer.sort_by(kIn);
    ReduceDims sorted;
    for (std::size_t d = 0; d < outer.rank(); ++d) sorted.push("reduce", outer[d]);
    outer = sorted;
  }
};

namespace detail {

// Results that a call of a ReduceBlock computes at most.
template <class Acc>
inline constexpr std::int64_t kStripWidth = sizeof(Acc) <= 8 ? 256 : 64;
inline constexpr std::int64_t kBlock = 1024;   // contiguous elements that are reduced in lanes
inline constexpr std::int64_t kTogether = 16;  // blocks of one sum that are reduced in one call
inline constexpr std::int64_t kStripElements = 16384;  // elements of rows that are reduced together

/// Reduces blocks in a binary tree: two of equal weight become one, so that errors grow with the
/// logarithm of their number.
template <class Op>
class Cascade {
 public:
  using Acc = Accumulator<Op>;
  explicit Cascade(std::int64_t width) : width_(width) {}

  void push(Acc* block) {
    std::size_t level = 0;
    for (; (blocks_ >> level & 1) != 0; ++level) merge(levels_[level].data(), block);
    std::copy_n(block, width_, levels_[level].data());
    ++blocks_;
  }
  void finish(Acc* result) const {
    std::fill_n(result, width_, Op::identity());
    for (std::size_t level = 0; blocks_ >> level != 0; ++level) {
      if ((blocks_ >> level & 1) != 0) merge(levels_[level].data(), result);
    }
  }

 private:
  // later = earlier + later
  void merge(const Acc* earlier, Acc* later) const {
    for (std::int64_t j = 0; j < width_; ++j) later[j] = Op::combine(earlier[j], later[j]);
  }

  std::int64_t width_;
  std::uint64_t blocks_ = 0;
  std::array<std::array<Acc, kStripWidth<Acc>>, 48> levels_;
};

/// Calls f(run, count) for the evenly spaced runs that the elements [begin, end) of a sum consist
/// of, each of at most `max_count` elements.
template <class T, class F>
void for_runs(const ReducePlan& plan, const T* from, std::int64_t begin, std::int64_t end,
              std::int64_t max_count, F f) {
  const std::int64_t length = plan.down.size;
  while (begin < end) {
    const std::int64_t row = begin / length, row_end = std::min((row + 1) * length, end);
    const T* const elements = from + plan.outer.offset(row)[kIn];
    while (begin < row_end) {
      const std::int64_t count = std::min(row_end - begin, max_count);
      f(elements + (begin - row * length) * plan.down.step[kIn], count);
      begin += count;
    }
  }
}

/// As reduce_strip, for many elements: reduces blocks of them, and the blocks' results in a tree.
template <class Op, class T>
void reduce_blocks(Accumulator<Op>* result, const ReducePlan& plan, const T* from,
                   std::int64_t width, std::int64_t begin, std::int64_t end,
                   ReduceBlock<Op, T> reduce_block) {
  const std::int64_t down = plan.down.step[kIn], across = plan.across.step[kIn];
  const std::int64_t max_count = !plan.rows() ? 64 : Exact<Op> ? end - begin : kBlock;
  if (end <= plan.down.size && end - begin <= max_count)  // a single block
    return reduce_block(result, from + begin * down, end - begin, down, width, across);
  static_assert(kTogether <= kStripWidth<Accumulator<Op>>);
  Accumulator<Op> block[kStripWidth<Accumulator<Op>>];
  Cascade<Op> cascade(width);
  // The blocks of a single sum are computed together.
  const std::int64_t together = width == 1 && plan.rows() && !Exact<Op> ? kTogether : 1;
  for_runs(plan, from, begin, end, together * max_count, [&](const T* run, std::int64_t count) {
    const std::int64_t whole = together > 1 ? count / max_count : 0, done = whole * max_count;
    if (whole > 0) reduce_block(block, run, max_count, 1, whole, max_count);
    for (std::int64_t i = 0; i < whole; ++i) cascade.push(block + i);
    if (done == count) return;
    reduce_block(block, run + done, count - done, down, width, across);
    cascade.push(block);
  });
  cascade.finish(result);
}

/// result[j] = the reduction of elements [begin, end) of the sums at from[j * across].
template <class Op, class T>
void reduce_strip(Accumulator<Op>* result, const ReducePlan& plan, const T* from,
                  std::int64_t width, std::int64_t begin, std::int64_t end,
                  ReduceBlock<Op, T> reduce_block) {
  if (InBlocks<Op> || end - begin >= kInOrder)
    return reduce_blocks<Op>(result, plan, from, width, begin, end, reduce_block);
  if constexpr (!InBlocks<Op>) {
    const std::int64_t down = plan.down.step[kIn], across = plan.across.step[kIn];
    std::fill_n(result, width, Op::identity());
    for_runs(plan, from, begin, end, kInOrder, [&](const T* run, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < width; ++j)
          result[j] = Op::combine(result[j], Op::load(run[i * down + j * across]));
      }
    });
  }
}

/// The reduction of `a` over `dims` into `out`, in strips of results and segments of elements. Few
/// long sums are cut into segments, which other threads may reduce.
template <class Op, class T, class Store>
class Reducer {
 public:
  Reducer(const Array& out, const Array& a, const Shape& dims, ReduceBlock<Op, T> reduce_block,
          Store store)
      : plan_(out, a, dims),
        reduce_block_(reduce_block),
        store_(store),
        from_(a.data<T>()),
        length_(plan_.outer.count() * plan_.down.size),
        width_(std::min(plan_.across.size, strip_width())),
        strips_across_((plan_.across.size - 1) / width_ + 1),
        strips_(plan_.groups.count() * strips_across_),
        segment_(std::max<std::int64_t>(length_, 1)) {
    constexpr std::int64_t kMaxSegments = 64, kFewStrips = 16;
    if (strips_ < kFewStrips)
      segment_ = std::max((length_ / kMaxSegments / kBlock + 1) * kBlock, kWork / width_);
    segments_ = length_ == 0 ? 1 : (length_ - 1) / segment_ + 1;
  }

  void run() {
    // A single segment needs no second step.
    if (segments_ > 1) partial_ = scratch<Acc>("reduce", strips_ * segments_ * width_);
    const std::int64_t each = std::min(segment_, std::max<std::int64_t>(length_, 1)) * width_;
    const std::int64_t grain = kWork / 2 / each + 1;
    parallel_for(0, strips_ * segments_, grain, [this](std::int64_t begin, std::int64_t end) {
      Acc sums[kWidth];
      for (std::int64_t task = begin; task < end; ++task) {
        const Strip strip = strip_at(task / segments_);
        const std::int64_t first = task % segments_ * segment_;
        Acc* result = segments_ > 1 ? partial_.data() + task * width_ : sums;
        reduce_strip<Op>(result, plan_, strip.from, strip.width, first,
                         std::min(first + segment_, length_), reduce_block_);
        if (segments_ == 1) store(strip, sums);
      }
    });
    if (segments_ > 1) join_segments();
  }

 private:
  using Acc = Accumulator<Op>;
  static constexpr std::int64_t kWork = 65536;  // elements that pay for another thread
  static constexpr std::int64_t kWidth = kStripWidth<Acc>;

  struct Strip {
    const T* from;
    std::int64_t to;  // of the first result
    std::int64_t width;
  };

  std::int64_t strip_width() const {
    if (!plan_.rows() || length_ == 0) return kWidth;
    return std::clamp<std::int64_t>(kStripElements / length_, 1, kWidth);
  }

  Strip strip_at(std::int64_t number) const {
    ReduceDims::Steps at = plan_.groups.offset(number / strips_across_);
    const std::int64_t left = number % strips_across_ * width_;
    for (const std::size_t k : {kIn, kOut}) at[k] += left * plan_.across.step[k];
    return {from_ + at[kIn], at[kOut], std::min(width_, plan_.across.size - left)};
  }

  void store(const Strip& strip, const Acc* sums) const {
    for (std::int64_t j = 0; j < strip.width; ++j)
      store_(strip.to + j * plan_.across.step[kOut], sums[j]);
  }

  void join_segments() {
    Acc sums[kWidth];
    for (std::int64_t number = 0; number < strips_; ++number) {
      const Strip strip = strip_at(number);
      Cascade<Op> cascade(strip.width);
      for (std::int64_t s = 0; s < segments_; ++s)
        cascade.push(partial_.data() + (number * segments_ + s) * width_);
      cascade.finish(sums);
      store(strip, sums);
    }
  }

  ReducePlan plan_;
  ReduceBlock<Op, T> reduce_block_;
  Store store_;
  const T* from_;
  std::int64_t length_, width_, strips_across_, strips_, segment_, segments_;
  Scratch<Acc> partial_;
};

}  // namespace detail

/// Reduces `a`, of elements T, over `dims` with Op, whose blocks are reduced by `reduce_block`, and
/// calls store(place, result) for each element of `out`, whose place is that many elements from the
/// first. What is reduced together, and in which order, depends on shapes and strides alone.
template <class Op, class T, class Store>
void reduce_to(const Array& out, const Array& a, const Shape& dims, ReduceBlock<Op, T> reduce_block,
               Store store) {
  if (out.numel() > 0) detail::Reducer<Op, T, Store>(out, a, dims, reduce_block, store).run();
}

/// The same with the results as the elements of `out`, of type Out.
template <class Op, class T, class Out>
void reduce(const Array& out, const Array& a, const Shape& dims, ReduceBlock<Op, T> reduce_block) {
  Out* const to = out.data<Out>();
  reduce_to<Op>(out, a, dims, reduce_block,
                [to](std::int64_t place, const Accumulator<Op>& result) {
                  to[place] = static_cast<Out>(result);
                });
}

}  // namespace tend::kernels
