// The loops below all reductions: how the elements of each sum are walked, grouped and shared among
// threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <tend/core/array.h>
#include <tend/core/parallel.h>

namespace tend::kernels {

/// What `reduce` folds with: `Acc identity()`, `Acc load(element)`, `Acc combine(Acc, Acc)`.
/// `combine` is associative up to rounding.
template <class Op>
using AccOf = decltype(Op::identity());

/// Dimensions of the input, outermost first, collapsed where the strides allow it.
class ReduceDims {
 public:
  struct Dim {
    std::int64_t size, in, out;  // strides in elements
  };
  struct Place {
    std::int64_t in = 0, out = 0;
  };

  void push(const Dim& dim) {
    if (dim.size == 1) return;
    if (rank_ > 0) {
      Dim& last = dims_[rank_ - 1];
      if (last.in == dim.size * dim.in && last.out == dim.size * dim.out) {
        last = {last.size * dim.size, dim.in, dim.out};
        return;
      }
    }
    if (rank_ == kMostDims) fail<ShapeError>("reduce", "more than ", kMostDims, " dimensions");
    dims_[rank_++] = dim;
  }
  /// Takes the innermost dimension off; size 1 when there is none.
  Dim pop() { return rank_ == 0 ? Dim{1, 0, 0} : dims_[--rank_]; }
  void sort_by_input_stride() {
    std::stable_sort(dims_.begin(), dims_.begin() + rank_,
                     [](const Dim& a, const Dim& b) { return a.in > b.in; });
  }
  std::int64_t count() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < rank_; ++d) count *= dims_[d].size;
    return count;
  }
  Place place(std::int64_t number) const {
    Place at;
    for (std::size_t d = rank_; d-- > 0;) {
      const std::int64_t i = number % dims_[d].size;
      number /= dims_[d].size;
      at.in += i * dims_[d].in;
      at.out += i * dims_[d].out;
    }
    return at;
  }

 private:
  static constexpr std::size_t kMostDims = 64;
  std::array<Dim, kMostDims> dims_;
  std::size_t rank_ = 0;
};

/// A reduction seen as `groups` x `across` results, each folding `outer` x `down` elements.
struct ReducePlan {
  ReduceDims groups, outer;
  ReduceDims::Dim across, down;

  ReducePlan(const Array& out, const Array& a, const Shape& dims) {
    const bool keepdim = out.rank() == a.rank();
    std::int64_t out_dim = 0;
    for (std::int64_t d = 0; d < a.rank(); ++d) {
      const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
      if (reduced) {
        outer.push({a.shape()[d], a.strides()[d], 0});
      } else {
        groups.push({a.shape()[d], a.strides()[d], out.strides()[out_dim]});
      }
      if (!reduced || keepdim) ++out_dim;
    }
    groups.sort_by_input_stride();
    down = outer.pop();
    across = groups.pop();
    if (across.size > 1 && (across.in < down.in || down.size == 1)) return;
    groups.push(across);  // the elements of one sum lie closest: one result at a time
    across = {1, 0, 0};
  }
};

namespace detail {

inline constexpr std::int64_t kInOrder = 16;     // fewer elements are folded from left to right
inline constexpr std::int64_t kTileWidth = 256;  // results that are folded together

/// Folds blocks in a binary tree: two of equal weight become one, so that errors grow with the
/// logarithm of their number.
template <class Op>
class Cascade {
 public:
  using Acc = AccOf<Op>;
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
  std::array<std::array<Acc, kTileWidth>, 48> levels_;
};

/// acc[j] += row[j]
template <class Op, class T>
void fold_row(AccOf<Op>* acc, const T* row, std::int64_t width, std::int64_t step) {
  if (step == 1) {
    for (std::int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::load(row[j]));
  } else {
    for (std::int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::load(row[j * step]));
  }
}

/// acc[j] += the sum of four rows
template <class Op, class T>
void fold_four_rows(AccOf<Op>* acc, const T* row, std::int64_t down, std::int64_t width) {
  const T *second = row + down, *third = second + down, *fourth = third + down;
  for (std::int64_t j = 0; j < width; ++j) {
    acc[j] = Op::combine(acc[j], Op::combine(Op::combine(Op::load(row[j]), Op::load(second[j])),
                                             Op::combine(Op::load(third[j]), Op::load(fourth[j]))));
  }
}

/// One number from `count` neighbours, in lanes that the compiler can vectorise.
template <class Op, class T>
AccOf<Op> fold_run(const T* from, std::int64_t count) {
  constexpr std::int64_t kLanes = 32;
  AccOf<Op> lanes[kLanes];
  std::fill_n(lanes, kLanes, Op::identity());
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l)
      lanes[l] = Op::combine(lanes[l], Op::load(from[i + l]));
  }
  for (std::int64_t l = 0; l < count - i; ++l)
    lanes[l] = Op::combine(lanes[l], Op::load(from[i + l]));
  for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::int64_t l = 0; l < width; ++l) lanes[l] = Op::combine(lanes[l], lanes[l + width]);
  }
  return lanes[0];
}

/// block[j] = the fold of `count` rows of `width` elements.
template <class Op, class T>
void fold_block(AccOf<Op>* block, const T* from, std::int64_t count, std::int64_t down,
                std::int64_t width, std::int64_t across) {
  if (width == 1 && down == 1 && count >= kInOrder) {
    block[0] = fold_run<Op>(from, count);
    return;
  }
  std::fill_n(block, width, Op::identity());
  std::int64_t i = 0;
  for (; across == 1 && i + 4 <= count; i += 4)
    fold_four_rows<Op>(block, from + i * down, down, width);
  for (; i < count; ++i) fold_row<Op>(block, from + i * down, width, across);
}

/// result[j] = the fold of elements [begin, end) of the sums at from[j * across].
template <class Op, class T>
void fold_tile(AccOf<Op>* result, const ReducePlan& plan, const T* from, std::int64_t width,
               std::int64_t begin, std::int64_t end) {
  const std::int64_t length = plan.down.size, down = plan.down.in, across = plan.across.in;
  const bool in_order = end - begin < kInOrder;
  const std::int64_t most = width == 1 ? 512 : 64;  // elements of one block
  AccOf<Op> block[kTileWidth];
  Cascade<Op> cascade(width);
  if (in_order) std::fill_n(result, width, Op::identity());
  while (begin < end) {
    const std::int64_t first = begin % length;
    const std::int64_t count = std::min({length - first, end - begin, most});
    const T* run = from + plan.outer.place(begin / length).in + first * down;
    if (in_order) {
      for (std::int64_t i = 0; i < count; ++i) fold_row<Op>(result, run + i * down, width, across);
    } else {
      fold_block<Op>(block, run, count, down, width, across);
      cascade.push(block);
    }
    begin += count;
  }
  if (!in_order) cascade.finish(result);
}

}  // namespace detail

/// out = the fold of `a` over `dims`, element by element with Op; T and Out are their types. What
/// is folded together, and in which order, depends on shapes and strides alone.
template <class Op, class T, class Out>
void reduce(const Array& out, const Array& a, const Shape& dims) {
  using Acc = AccOf<Op>;
  if (out.numel() == 0) return;
  const ReducePlan plan(out, a, dims);
  const std::int64_t length = plan.outer.count() * plan.down.size;
  const std::int64_t tiles = (plan.across.size - 1) / detail::kTileWidth + 1;
  const std::int64_t results = plan.groups.count() * tiles;
  const std::int64_t width = std::min(plan.across.size, detail::kTileWidth);
  // Few long sums are cut into segments, which other threads may fold.
  constexpr std::int64_t kWork = 65536, kMostSegments = 64, kFewResults = 16;
  std::int64_t segment = std::max<std::int64_t>(length, 1);
  if (results < kFewResults)
    segment = std::max({length / kMostSegments + 1, kWork / width, detail::kInOrder});
  const std::int64_t segments = length == 0 ? 1 : (length - 1) / segment + 1;
  std::vector<Acc> partial(segments > 1 ? static_cast<std::size_t>(results * segments * width) : 0);

  const auto tile = [&](std::int64_t result) {
    const auto place = plan.groups.place(result / tiles);
    const std::int64_t left = result % tiles * detail::kTileWidth;
    struct {
      const T* from;
      Out* to;
      std::int64_t width;
    } at{a.data<T>() + place.in + left * plan.across.in,
         out.data<Out>() + place.out + left * plan.across.out,
         std::min(detail::kTileWidth, plan.across.size - left)};
    return at;
  };
  const auto store = [&](const auto& at, const Acc* sums) {
    for (std::int64_t j = 0; j < at.width; ++j)
      at.to[j * plan.across.out] = static_cast<Out>(sums[j]);
  };

  const std::int64_t grain = kWork / 2 / std::max<std::int64_t>(segment * width, 1) + 1;
  parallel_for(0, results * segments, grain, [&](std::int64_t begin, std::int64_t end) {
    Acc sums[detail::kTileWidth];
    for (std::int64_t task = begin; task < end; ++task) {
      const auto at = tile(task / segments);
      const std::int64_t first = task % segments * segment;
      Acc* to = segments > 1 ? partial.data() + task * width : sums;
      detail::fold_tile<Op>(to, plan, at.from, at.width, first, std::min(first + segment, length));
      if (segments == 1) store(at, sums);
    }
  });
  if (segments == 1) return;
  for (std::int64_t result = 0; result < results; ++result) {
    Acc sums[detail::kTileWidth];
    const auto at = tile(result);
    detail::Cascade<Op> cascade(at.width);
    for (std::int64_t s = 0; s < segments; ++s)
      cascade.push(partial.data() + (result * segments + s) * width);
    cascade.finish(sums);
    store(at, sums);
  }
}

}  // namespace tend::kernels
