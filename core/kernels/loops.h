// Loops over strided arrays: dimensions are sorted and collapsed once, then a plain inner loop sees
// pointers and steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/core/array.h>
#include <tend/core/kernels/transpose.h>
#include <tend/core/parallel.h>

namespace tend::kernels {

/// Elements per chunk of an elementwise loop: large enough to pay for a hand-over, small enough to
/// share.
inline constexpr std::int64_t kElementGrain = 32768;

/// The same for operations that are as fast as memory.
inline constexpr std::int64_t kStreamGrain = 65536;

/// Of `rows` rows of n elements, how many to a chunk: eight chunks where there is that much to do.
constexpr std::int64_t row_grain(std::int64_t rows, std::int64_t n) noexcept {
  const std::int64_t elements = std::clamp<std::int64_t>(rows * n / 8, 8192, kElementGrain);
  return std::max<std::int64_t>(1, elements / std::max<std::int64_t>(n, 1));
}

/// Visits N arrays together. The order of the elements is the output's (operand 0) order in memory.
template <std::size_t N>
class StridedLoop {
 public:
  using Pointers = std::array<std::byte*, N>;
  using Steps = std::array<std::int64_t, N>;  // bytes

  /// Operands broadcast to the shape of operand 0. The last one is walked backwards along every
  /// dimension d whose bit 1 << d is in `flipped`.
  explicit StridedLoop(const std::array<const Array*, N>& operands, std::uint64_t flipped = 0)
      : total_(operands[0]->numel()) {
    for (std::size_t i = 0; i < N; ++i) {
      base_[i] = static_cast<std::byte*>(operands[i]->raw());
      items_[i] = item_size(operands[i]->dtype());
    }
    if ((flipped == 0 || total_ == 0) && push_flat(operands)) return;
    std::array<std::int64_t, kMostDims> order;
    const std::int64_t rank = sort_dims(*operands[0], order);
    for (std::int64_t i = 0; i < rank; ++i) {
      const std::int64_t d = order[static_cast<std::size_t>(i)];
      push_dim(operands, d, (flipped >> d & 1) != 0);
    }
    if (dims_ == 0) push_dim(total_, Steps{});
  }

  /// Calls inner(count, pointers, steps) over runs of the innermost dimension, in parallel when
  /// there is much to do.
  template <class F>
  void run(F&& inner, std::int64_t grain = kElementGrain) const {
    parallel_for(0, total_, grain,
                 [&](std::int64_t begin, std::int64_t end) { run_range(begin, end, inner); });
  }

  /// As run, for an `inner` that looks at nothing but the elements. Where neighbours in the output
  /// lie far apart in an input, the input is brought into the output's order tile by tile, and
  /// inner sees those copies.
  template <class F>
  void run_elements(F&& inner, std::int64_t grain = kElementGrain) const {
    const std::size_t across = crossing_dim();
    if (across == dims_) return run(inner, grain);
    const Tiling tiling{across, (sizes_[across] - 1) / kTileRows + 1,
                        (sizes_[dims_ - 1] - 1) / kTileColumns + 1};
    const std::int64_t planes = total_ / (sizes_[across] * sizes_[dims_ - 1]);
    const auto run_tiles = [&](std::int64_t begin, std::int64_t end) {
      alignas(64) TileBuffers buffers;
      for (std::int64_t number = begin; number < end; ++number) {
        if (number + 1 < end) prefetch(tiling, tile_at(tiling, number + 1));
        run_tile(tiling, tile_at(tiling, number), buffers, inner);
      }
    };
    parallel_for(0, planes * tiling.down * tiling.right, grain / (kTileRows * kTileColumns),
                 run_tiles);
  }

 private:
  static constexpr std::int64_t kMostDims = 64;
  // Columns of a tile are runs of the input: a cache line of float32, which is read once even
  // where many of them share a place in the cache. Rows are runs of the output.
  static constexpr std::int64_t kTileRows = 16, kTileColumns = 64;
  using TileBuffers = std::array<std::array<std::byte, kTileRows * kTileColumns * 8>, N - 1>;

  struct Tiling {
    std::size_t across;        // the dimension along which the input's neighbours lie
    std::int64_t down, right;  // tiles in it and in the innermost dimension
  };
  struct Tile {
    Pointers at;
    std::int64_t rows, columns;
  };

  // The usual case: every operand is dense or a single number. An empty loop is flat as well; its
  // strides may be beyond what they could be in bytes.
  bool push_flat(const std::array<const Array*, N>& operands) {
    const Shape& shape = operands[0]->shape();
    Steps steps;
    for (std::size_t i = 0; i < N; ++i) {
      const bool single = operands[i]->numel() == 1;
      const bool dense = operands[i]->is_contiguous() && operands[i]->shape() == shape;
      if (total_ > 0 && !single && !dense) return false;
      steps[i] = single && total_ != 1 ? 0 : items_[i];
    }
    push_dim(total_, steps);
    return true;
  }

  // Dimensions of size over 1, the output's largest stride first.
  static std::int64_t sort_dims(const Array& out, std::array<std::int64_t, kMostDims>& order) {
    if (out.rank() > kMostDims)
      fail<ShapeError>("loop", "more than ", kMostDims, " dimensions in ", out.shape());
    std::int64_t rank = 0;
    for (std::int64_t d = 0; d < out.rank(); ++d) {
      if (out.shape()[d] != 1) order[static_cast<std::size_t>(rank++)] = d;
    }
    // Insertion sort: it is stable, and the few dimensions are nearly always in order already.
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

  void push_dim(const std::array<const Array*, N>& operands, std::int64_t d, bool flip) {
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
    if (dims_ > 0) {
      bool even = true;
      for (std::size_t i = 0; i < N; ++i) even = even && steps_[dims_ - 1][i] == steps[i] * size;
      if (even) {
        sizes_[dims_ - 1] *= size;
        steps_[dims_ - 1] = steps;
        return;
      }
    }
    push_dim(size, steps);
  }

  void push_dim(std::int64_t size, const Steps& steps) {
    sizes_[dims_] = size;
    steps_[dims_++] = steps;
  }

  template <class F>
  void run_range(std::int64_t begin, std::int64_t end, F& inner) const {
    const std::size_t last = dims_ - 1;
    const std::int64_t row_size = sizes_[last];
    std::array<std::int64_t, kMostDims> index;
    std::int64_t column = begin;
    Pointers row = base_;
    if (last > 0) {
      column = begin % row_size;
      row = seek(begin / row_size, index);
    }
    while (begin < end) {
      const std::int64_t count = std::min(row_size - column, end - begin);
      Pointers at = row;
      for (std::size_t i = 0; i < N; ++i) at[i] += column * steps_[last][i];
      inner(count, at, steps_[last]);
      begin += count;
      column = 0;
      if (begin < end) next_row(row, index);
    }
  }

  Pointers seek(std::int64_t row_number, std::array<std::int64_t, kMostDims>& index) const {
    Pointers row = base_;
    for (std::size_t d = dims_ - 1; d-- > 0;) {
      index[d] = row_number % sizes_[d];
      row_number /= sizes_[d];
      for (std::size_t i = 0; i < N; ++i) row[i] += index[d] * steps_[d][i];
    }
    return row;
  }

  void next_row(Pointers& row, std::array<std::int64_t, kMostDims>& index) const {
    for (std::size_t d = dims_ - 1; d-- > 0;) {
      for (std::size_t i = 0; i < N; ++i) row[i] += steps_[d][i];
      if (++index[d] < sizes_[d]) return;
      for (std::size_t i = 0; i < N; ++i) row[i] -= sizes_[d] * steps_[d][i];
      index[d] = 0;
    }
  }

  // True for an input with neighbours along dimension d, but none along the innermost one.
  bool crosses(std::size_t i, std::size_t d) const {
    const std::int64_t inner = steps_[dims_ - 1][i];
    return inner != 0 && inner != items_[i] && steps_[d][i] == items_[i];
  }

  // The dimension along which an input crosses the output, if there is enough for tiles of it.
  std::size_t crossing_dim() const {
    constexpr std::int64_t kLeast = 8;
    if (dims_ < 2 || sizes_[dims_ - 1] < kLeast) return dims_;
    for (std::size_t i = 1; i < N; ++i) {
      for (std::size_t d = 0; d + 1 < dims_; ++d) {
        if (crosses(i, d) && sizes_[d] >= kLeast) return d;
      }
    }
    return dims_;
  }

  // Tiles are walked along the runs of the input.
  Tile tile_at(const Tiling& tiling, std::int64_t number) const {
    const std::size_t across = tiling.across, last = dims_ - 1;
    const std::int64_t top = number % tiling.down * kTileRows;
    number /= tiling.down;
    const std::int64_t left = number % tiling.right * kTileColumns;
    number /= tiling.right;
    Tile tile{base_, std::min(kTileRows, sizes_[across] - top),
              std::min(kTileColumns, sizes_[last] - left)};
    for (std::size_t i = 0; i < N; ++i)
      tile.at[i] += top * steps_[across][i] + left * steps_[last][i];
    for (std::size_t d = last; d-- > 0;) {
      if (d == across) continue;
      for (std::size_t i = 0; i < N; ++i) tile.at[i] += number % sizes_[d] * steps_[d][i];
      number /= sizes_[d];
    }
    return tile;
  }

  // Processors do not foresee the places of a tile: without this each of its lines is waited for.
  void prefetch(const Tiling& tiling, const Tile& tile) const {
    const Steps &down = steps_[tiling.across], &right = steps_[dims_ - 1];
    for (std::size_t i = 0; i < N; ++i) {
      const bool crossed = i > 0 && crosses(i, tiling.across);
      const std::int64_t runs = crossed ? tile.columns : tile.rows;
      const std::int64_t between = crossed ? right[i] : down[i];
      const std::int64_t bytes = crossed ? tile.rows * items_[i] : tile.columns * right[i];
      for (std::int64_t run = 0; run < runs; ++run) {
        for (std::int64_t byte = 0; byte < bytes; byte += 64)
          __builtin_prefetch(tile.at[i] + run * between + byte);
      }
    }
  }

  template <class F>
  void run_tile(const Tiling& tiling, Tile tile, TileBuffers& buffers, F& inner) const {
    const std::size_t across = tiling.across, last = dims_ - 1;
    Pointers& at = tile.at;
    Steps down = steps_[across], right = steps_[last];
    for (std::size_t i = 1; i < N; ++i) {
      if (!crosses(i, across)) continue;
      std::byte* const copy = buffers[i - 1].data();
      transpose_bytes(copy, kTileColumns * items_[i], at[i], right[i], tile.rows, tile.columns,
                      items_[i]);
      at[i] = copy;
      down[i] = kTileColumns * items_[i];
      right[i] = items_[i];
    }
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      inner(tile.columns, at, right);
      for (std::size_t i = 0; i < N; ++i) at[i] += down[i];
    }
  }

  Pointers base_;
  Steps items_;  // bytes of an element
  std::array<std::int64_t, kMostDims> sizes_;
  std::array<Steps, kMostDims> steps_;
  std::size_t dims_ = 0;
  std::int64_t total_;
};

/// out[i] = f(a[i]). `a` broadcasts to out; element types are Out and A.
template <class Out, class A, class F>
void map(const Array& out, const Array& a, F f) {
  StridedLoop<2>({&out, &a}).run_elements([f](std::int64_t count, const auto& p, const auto& step) {
    if (step[0] == sizeof(Out) && step[1] == sizeof(A)) {
      auto* to = reinterpret_cast<Out*>(p[0]);
      const auto* from = reinterpret_cast<const A*>(p[1]);
      for (std::int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<Out*>(p[0] + i * step[0]) =
          f(*reinterpret_cast<const A*>(p[1] + i * step[1]));
    }
  });
}

/// out[i] = f(a[i], b[i]); both broadcast to out.
template <class Out, class A, class B, class F>
void map(const Array& out, const Array& a, const Array& b, F f) {
  StridedLoop<3>({&out, &a, &b})
      .run_elements([f](std::int64_t count, const auto& p, const auto& step) {
        auto* to = reinterpret_cast<Out*>(p[0]);
        const auto* x = reinterpret_cast<const A*>(p[1]);
        const auto* y = reinterpret_cast<const B*>(p[2]);
        if (step[0] == sizeof(Out) && step[1] == sizeof(A) && step[2] == sizeof(B)) {
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], y[i]);
        } else if (step[0] == sizeof(Out) && step[1] == sizeof(A) && step[2] == 0) {
          const B constant = *y;
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], constant);
        } else if (step[0] == sizeof(Out) && step[1] == 0 && step[2] == sizeof(B)) {
          const A constant = *x;
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(constant, y[i]);
        } else {
          for (std::int64_t i = 0; i < count; ++i) {
            *reinterpret_cast<Out*>(p[0] + i * step[0]) =
                f(*reinterpret_cast<const A*>(p[1] + i * step[1]),
                  *reinterpret_cast<const B*>(p[2] + i * step[2]));
          }
        }
      });
}

/// out[i] = f(a[i], b[i], c[i]); all broadcast to out.
template <class Out, class A, class B, class C, class F>
void map(const Array& out, const Array& a, const Array& b, const Array& c, F f) {
  StridedLoop<4>({&out, &a, &b, &c})
      .run_elements([f](std::int64_t count, const auto& p, const auto& step) {
        auto* to = reinterpret_cast<Out*>(p[0]);
        const auto* x = reinterpret_cast<const A*>(p[1]);
        const auto* y = reinterpret_cast<const B*>(p[2]);
        const auto* z = reinterpret_cast<const C*>(p[3]);
        if (step[0] == sizeof(Out) && step[1] == sizeof(A) && step[2] == sizeof(B) &&
            step[3] == sizeof(C)) {
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], y[i], z[i]);
          return;
        }
        for (std::int64_t i = 0; i < count; ++i) {
          *reinterpret_cast<Out*>(p[0] + i * step[0]) =
              f(*reinterpret_cast<const A*>(p[1] + i * step[1]),
                *reinterpret_cast<const B*>(p[2] + i * step[2]),
                *reinterpret_cast<const C*>(p[3] + i * step[3]));
        }
      });
}

/// out = f(a), or f(a, b), element by element in the floating dtype that all have; f is generic.
template <class F>
void map_floating(std::string_view operation, const Array& out, const Array& a, F f) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, f);
  });
}

template <class F>
void map_floating(std::string_view operation, const Array& out, const Array& a, const Array& b,
                  F f) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T>(out, a, b, f);
  });
}

}  // namespace tend::kernels
