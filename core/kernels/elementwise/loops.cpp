#include <tend/core/kernels/elementwise/loops.h>

#include <utility>

#include <tend/core/kernels/matmul/tiles.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

[[noreturn]] void fail_rank(const Array& out) {
  fail<ShapeError>("loop", "accepts at most 64 dimensions, got shape ", out.shape());
}

// Writes the dimensions of size over 1 to `order`, the largest stride first. Returns their number.
template <std::size_t kMax>
std::int64_t sort_dims(const Array& out, std::array<std::int64_t, kMax>& order) {
  std::int64_t rank = 0;
  for (std::int64_t d = 0; d < out.rank(); ++d) {
    if (out.shape()[d] == 1) continue;
    if (rank == static_cast<std::int64_t>(kMax)) fail_rank(out);
    order[static_cast<std::size_t>(rank++)] = d;
  }
  // Insertion sort is stable, and the few dimensions are nearly always in order already.
  for (std::int64_t i = 1; i < rank; ++i) {
    for (std::int64_t j = i; j > 0; --j) {
      auto& left = order[static_cast<std::size_t>(j - 1)];
      auto& right = order[static_cast<std::size_t>(j)];
      if (out.strides()[left] >= out.strides()[right]) break;
      std::swap(left, right);
    }
  }
  return rank;
}

template <std::size_t N>
void advance(std::array<std::byte*, N>& at, const std::array<std::int64_t, N>& step,
             std::int64_t count = 1) {
  for (std::size_t i = 0; i < N; ++i) at[i] += count * step[i];
}

}  // namespace

template <std::size_t N>
StridedLoop<N>::StridedLoop(const std::array<const Array*, N>& operands, std::uint64_t flipped)
    : total_(operands[0]->numel()) {
  for (std::size_t i = 0; i < N; ++i) {
    base_[i] = static_cast<std::byte*>(operands[i]->raw());
    items_[i] = item_size(operands[i]->dtype());
  }
  if ((flipped == 0 || total_ == 0) && take_flat(operands)) return;
  std::array<std::int64_t, Dims::kMaxDims> order;
  const std::int64_t rank = sort_dims(*operands[0], order);
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t d = order[static_cast<std::size_t>(i)];
    push_dim(operands, d, flipped != 0 && (flipped >> d & 1) != 0);
  }
  inner_ = outer_.pop();
}

// Handles the usual case: every operand is contiguous or a single element. Empty loops are handled
// here, too, because converting their strides to bytes could overflow.
template <std::size_t N>
bool StridedLoop<N>::take_flat(const std::array<const Array*, N>& operands) {
  const Shape& shape = operands[0]->shape();
  inner_.size = total_;
  for (std::size_t i = 0; i < N; ++i) {
    const bool single = operands[i]->numel() == 1;
    const bool dense = operands[i]->is_contiguous() && operands[i]->shape() == shape;
    if (total_ > 0 && !single && !dense) return false;
    inner_.step[i] = single && total_ != 1 ? 0 : items_[i];
  }
  return true;
}

template <std::size_t N>
void StridedLoop<N>::push_dim(const std::array<const Array*, N>& operands, std::int64_t d,
                              bool flip) {
  const std::int64_t rank = operands[0]->rank(), size = operands[0]->shape()[d];
  Steps steps;
  for (std::size_t i = 0; i < N; ++i) {
    const Array& a = *operands[i];
    const std::int64_t own = d - (rank - a.rank());
    steps[i] = own < 0 || a.shape()[own] == 1 ? 0 : a.strides()[own] * items_[i];
  }
  if (flip) {
    base_[N - 1] += (size - 1) * steps[N - 1];
    steps[N - 1] = -steps[N - 1];
  }
  outer_.push("loop", {size, steps});
}

template <std::size_t N>
void StridedLoop<N>::run(Inner inner, std::int64_t grain) const {
  parallel_for(0, total_, grain,
               [&](std::int64_t begin, std::int64_t end) { run_range(begin, end, inner); });
}

template <std::size_t N>
void StridedLoop<N>::run_range(std::int64_t begin, std::int64_t end, const Inner& inner) const {
  std::int64_t column = begin;
  Pointers row = base_;
  std::array<std::int64_t, Dims::kMaxDims> index;
  if (outer_.rank() > 0) {
    column = begin % inner_.size;
    std::int64_t number = begin / inner_.size;
    for (std::size_t d = outer_.rank(); d-- > 0;) {
      index[d] = number % outer_[d].size;
      number /= outer_[d].size;
      advance(row, outer_[d].step, index[d]);
    }
  }
  const auto next_row = [&] {
    for (std::size_t d = outer_.rank(); d-- > 0;) {
      advance(row, outer_[d].step);
      if (++index[d] < outer_[d].size) return;
      advance(row, outer_[d].step, -outer_[d].size);
      index[d] = 0;
    }
  };
  while (begin < end) {
    const std::int64_t count = std::min(inner_.size - column, end - begin);
    Pointers at = row;
    advance(at, inner_.step, column);
    inner(count, at, inner_.step);
    begin += count;
    column = 0;
    if (begin < end) next_row();
  }
}

/// Runs a loop tile by tile, over tiles of two dimensions: the innermost one, and one along which
/// an input is contiguous.
template <std::size_t N>
class StridedLoop<N>::Tiles {
 public:
  Tiles(const StridedLoop& loop, const Inner& inner)
      : loop_(loop), inner_(inner), across_(crossing_dim()) {}

  /// True if an input is contiguous along another dimension than the innermost one, and both
  /// dimensions are long enough.
  bool needed() const { return across_ != loop_.outer_.rank(); }

  void run(std::int64_t grain) {
    down_ = (across().size - 1) / kRows + 1;
    right_ = (along().size - 1) / kColumns + 1;
    const std::int64_t planes = loop_.total_ / (across().size * along().size);
    parallel_for(0, planes * down_ * right_, grain / (kRows * kColumns),
                 [&](std::int64_t begin, std::int64_t end) {
                   alignas(64) Buffers buffers;
                   for (std::int64_t number = begin; number < end; ++number) {
                     if (number + 1 < end) prefetch(tile_at(number + 1));
                     run_tile(tile_at(number), buffers);
                   }
                 });
  }

 private:
  // The input is contiguous along the columns of a tile. A column is one cache line of float32, so
  // each line is read only once, even if many lines map to one cache set. The rows are runs along
  // the innermost dimension.
  static constexpr std::int64_t kRows = 16, kColumns = 64;
  using Buffers = std::array<std::array<std::byte, kRows * kColumns * 8>, N - 1>;

  struct Tile {
    Pointers at;
    std::int64_t rows, columns;
  };

  const Dim& across() const { return loop_.outer_[across_]; }
  const Dim& along() const { return loop_.inner_; }

  // True if input i is contiguous along dimension d, but not along the innermost dimension.
  bool crosses(std::size_t i, std::size_t d) const {
    const std::int64_t inner = along().step[i];
    return inner != 0 && inner != loop_.items_[i] && loop_.outer_[d].step[i] == loop_.items_[i];
  }

  std::size_t crossing_dim() const {
    constexpr std::int64_t kMin = 8;
    const std::size_t none = loop_.outer_.rank();
    if (along().size < kMin) return none;
    for (std::size_t i = 1; i < N; ++i) {
      for (std::size_t d = 0; d < none; ++d) {
        if (crosses(i, d) && loop_.outer_[d].size >= kMin) return d;
      }
    }
    return none;
  }

  // Tiles are numbered first along the dimension in which the input is contiguous.
  Tile tile_at(std::int64_t number) const {
    const std::int64_t top = number % down_ * kRows;
    number /= down_;
    const std::int64_t left = number % right_ * kColumns;
    number /= right_;
    Tile tile{loop_.base_, std::min(kRows, across().size - top),
              std::min(kColumns, along().size - left)};
    advance(tile.at, across().step, top);
    advance(tile.at, along().step, left);
    for (std::size_t d = loop_.outer_.rank(); d-- > 0;) {
      if (d == across_) continue;
      advance(tile.at, loop_.outer_[d].step, number % loop_.outer_[d].size);
      number /= loop_.outer_[d].size;
    }
    return tile;
  }

  // Hardware prefetchers do not foresee a tile's addresses. Without this prefetch, the loop would
  // wait for each of its cache lines.
  void prefetch(const Tile& tile) const {
    const Steps &down = across().step, &right = along().step;
    for (std::size_t i = 0; i < N; ++i) {
      const bool crossed = i > 0 && crosses(i, across_);
      const std::int64_t runs = crossed ? tile.columns : tile.rows;
      const std::int64_t between = crossed ? right[i] : down[i];
      const std::int64_t bytes = crossed ? tile.rows * loop_.items_[i] : tile.columns * right[i];
      for (std::int64_t run = 0; run < runs; ++run) {
        for (std::int64_t byte = 0; byte < bytes; byte += 64)
          __builtin_prefetch(tile.at[i] + run * between + byte);
      }
    }
  }

  void run_tile(Tile tile, Buffers& buffers) const {
    Steps down = across().step, right = along().step;
    for (std::size_t i = 1; i < N; ++i) {
      if (!crosses(i, across_)) continue;
      std::byte* const copy = buffers[i - 1].data();
      const std::int64_t item = loop_.items_[i];
      transpose_bytes(copy, kColumns * item, tile.at[i], right[i], tile.rows, tile.columns, item);
      tile.at[i] = copy;
      down[i] = kColumns * item;
      right[i] = item;
    }
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      inner_(tile.columns, tile.at, right);
      advance(tile.at, down);
    }
  }

  const StridedLoop& loop_;
  const Inner& inner_;
  std::size_t across_;                 // the dimension along which an input is contiguous
  std::int64_t down_ = 0, right_ = 0;  // numbers of tiles along `across_` and the innermost one
};

template <std::size_t N>
void StridedLoop<N>::run_elements(Inner inner, std::int64_t grain) const {
  if (Tiles tiles(*this, inner); tiles.needed()) return tiles.run(grain);
  run(inner, grain);
}

template class StridedLoop<1>;
template class StridedLoop<2>;
template class StridedLoop<3>;
template class StridedLoop<4>;

}  // namespace tend::kernels
