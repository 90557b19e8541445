#include <tend/core/kernels/indexing/lines.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <type_traits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/bounds.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

constexpr std::int64_t kIndex = sizeof(std::int64_t);
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

std::int64_t index_at(const std::byte* at) {
  return *reinterpret_cast<const std::int64_t*>(at);
}

// Writes the element at `from` to `to`, or combines the two.
template <Write kWrite, class T>
void write_to(std::byte* to, const std::byte* from) {
  auto& target = *reinterpret_cast<T*>(to);
  const T value = *reinterpret_cast<const T*>(from);
  constexpr bool kAdds = kWrite == Write::add;
  if constexpr (kWrite == Write::replace) {
    target = value;
  } else if constexpr (kWrite == Write::max || kWrite == Write::min) {
    // Each of the two choices compiles to one instruction. A branch would often be mispredicted.
    const T former = target;
    const T extreme = (kWrite == Write::max ? value > former : value < former) ? value : former;
    target = value != value ? value : extreme;
  } else if constexpr (std::is_same_v<T, bool>) {
    target = kAdds ? target || value : target && value;
  } else if constexpr (std::is_integral_v<T>) {  // wraps around, as PyTorch's int64 does
    const auto a = static_cast<std::uint64_t>(target), b = static_cast<std::uint64_t>(value);
    target = static_cast<T>(kAdds ? a + b : a * b);
  } else {
    target = kAdds ? target + value : target * value;
  }
}

// The stride of `dim` in bytes, or 0 if it overflows int64. If it overflows, the dimension has size
// 1, so the step is never used.
std::int64_t byte_step(const Array& a, std::int64_t dim) {
  std::int64_t step = 0;
  return __builtin_mul_overflow(a.strides()[dim], item_size(a.dtype()), &step) ? 0 : step;
}

// A view of the elements of `a` at position 0 of `dim`, with the shape `lines`, whose size in `dim`
// is 1.
Array origin(const Array& a, const Shape& lines, std::int64_t dim) {
  Shape strides = a.strides();
  strides[dim] = 0;
  return a.as_strided(lines, strides, a.offset());
}

// Moves elements along the lines in `dim` of the output, the index and the input. With kGathers the
// index holds positions in the input, otherwise positions in the output.
template <bool kGathers, Write kWrite, class T>
class Mover {
 public:
  Mover(const Array& out, const Array& index, const Array& a, std::int64_t dim, std::int64_t size)
      : length_(index.size(dim)),
        to_(byte_step(out, dim)),
        at_(byte_step(index, dim)),
        from_(byte_step(a, dim)),
        rows_((kGathers ? a : out).size(dim)),
        size_(size) {
    Shape lines = index.shape();
    lines[dim] = 1;
    first_to_ = origin(out, lines, dim);
    first_at_ = origin(index, lines, dim);
    first_from_ = origin(a, lines, dim);
  }

  // Moves all lines, `grain` at a time. Returns false if an index is out of range. A scatter of
  // slices writes only to positions in [low, high).
  bool run(std::int64_t grain, std::int64_t low = 0, std::int64_t high = kAll) const {
    std::atomic<bool> good = true;
    StridedLoop<3>({&first_to_, &first_at_, &first_from_})
        .run(
            [&, this](std::int64_t count, const auto& p, const auto& step) {
              if (!move(count, p, step, {low, high})) good = false;
            },
            grain);
    return good;
  }

 private:
  using Pointers = typename StridedLoop<3>::Pointers;
  using Steps = typename StridedLoop<3>::Steps;
  static constexpr std::int64_t kItem = sizeof(T);
  struct Range {
    std::int64_t low, high;
  };

  bool move(std::int64_t count, const Pointers& p, const Steps& step, Range range) const {
    if (step[1] == 0 && step[0] == kItem) return move_slices(count, p, step, range);
    assert(range.high == kAll);  // threads divide the positions only for slices
    const bool index_across = step[1] == kIndex && at_ != kIndex;
    const bool input_across = step[1] == 0 && step[2] == kItem;
    if (index_across || input_across) return move_across(count, p, step);
    for (std::int64_t i = 0; i < count; ++i) {
      const Pointers line{p[0] + i * step[0], p[1] + i * step[1], p[2] + i * step[2]};
      if (!move_line(line)) return false;
    }
    return true;
  }

  bool is_inside(std::int64_t position) const { return position >= 0 && position < size_; }
  bool are_inside(const std::byte* at, std::int64_t step, std::int64_t count) const {
    if (size_ == kChecked) return true;
    if (step == kIndex) return all_inside(reinterpret_cast<const std::int64_t*>(at), count, size_);
    if (step == 0) return is_inside(index_at(at));
    bool inside = true;
    for (std::int64_t i = 0; i < count; ++i) inside &= is_inside(index_at(at + i * step));
    return inside;
  }

  // Moves neighbouring lines that share their index, slice by slice.
  bool move_slices(std::int64_t count, const Pointers& p, const Steps& step, Range range) const {
    for (std::int64_t j = 0; j < length_; ++j) {
      const std::int64_t position = index_at(p[1] + j * at_);
      if (!is_inside(position)) return false;
      if (!kGathers && (position < range.low || position >= range.high)) continue;
      std::byte* to = p[0] + (kGathers ? j : position) * to_;
      const std::byte* from = p[2] + (kGathers ? position : j) * from_;
      if (kWrite == Write::replace && step[2] == kItem) {
        std::copy_n(reinterpret_cast<const T*>(from), count, reinterpret_cast<T*>(to));
      } else if (step[2] == kItem) {
        for (std::int64_t i = 0; i < count; ++i)
          write_to<kWrite, T>(to + i * kItem, from + i * kItem);
      } else if (step[2] == 0) {
        const T value = *reinterpret_cast<const T*>(from);
        for (std::int64_t i = 0; i < count; ++i)
          write_to<kWrite, T>(to + i * kItem, reinterpret_cast<const std::byte*>(&value));
      } else {
        for (std::int64_t i = 0; i < count; ++i)
          write_to<kWrite, T>(to + i * kItem, from + i * step[2]);
      }
    }
    return true;
  }

  // For neighbouring lines whose j-th indices, or whose j-th input elements, are next to each other
  // in memory. Moves kLines lines together, so that they fit the cache.
  bool move_across(std::int64_t count, const Pointers& p, const Steps& step) const {
    constexpr std::int64_t kLines = 16;
    constexpr std::size_t kFar = kGathers ? 2 : 0;  // the array that the index points into
    // The rows of this array are often far apart. Packed rows fit the cache and the TLB. Packing
    // copies all rows, so it pays only if a line has at least half as many indices as there are
    // rows.
    constexpr std::int64_t kManyRows = 64;
    const bool packs = rows_ >= kManyRows && rows_ / 2 <= length_ && step[kFar] == kItem;
    Scratch<std::byte> packed;
    if (packs) packed = scratch<std::byte>("index", rows_ * kLines * kItem);
    for (std::int64_t first = 0; first < count; first += kLines) {
      const std::int64_t n = std::min(kLines, count - first);
      Pointers at{p[0] + first * step[0], p[1] + first * step[1], p[2] + first * step[2]};
      if (!packs) {
        if (!move_block(n, at, step, to_, from_)) return false;
        continue;
      }
      constexpr std::int64_t kRow = kLines * kItem;
      std::byte* const rows = at[kFar];
      const std::int64_t between = kGathers ? from_ : to_;
      for (std::int64_t r = 0; r < rows_; ++r)
        std::copy_n(rows + r * between, n * kItem, packed.data() + r * kRow);
      at[kFar] = packed.data();
      if (!move_block(n, at, step, kGathers ? to_ : kRow, kGathers ? kRow : from_)) return false;
      for (std::int64_t r = 0; !kGathers && r < rows_; ++r)
        std::copy_n(packed.data() + r * kRow, n * kItem, rows + r * between);
    }
    return true;
  }

  bool move_block(std::int64_t n, const Pointers& p, const Steps& step, std::int64_t to_step,
                  std::int64_t from_step) const {
    // The prefetch distance, in rows of the index. Hardware prefetchers do not predict these reads.
    constexpr std::int64_t kAhead = 8;
    for (std::int64_t j = 0; j < length_; ++j) {
      const std::byte* at = p[1] + j * at_;
      for (std::int64_t byte = 0; byte < n * step[1]; byte += 64)
        __builtin_prefetch(at + kAhead * at_ + byte);
      std::byte* to = p[0] + (kGathers ? j * to_step : 0);
      const std::byte* from = p[2] + (kGathers ? 0 : j * from_step);
      if (!are_inside(at, step[1], n)) return false;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t position = index_at(at + i * step[1]);
        write_to<kWrite, T>(to + i * step[0] + (kGathers ? 0 : position * to_step),
                            from + i * step[2] + (kGathers ? position * from_step : 0));
      }
    }
    return true;
  }

  bool move_line(const Pointers& p) const {
    constexpr std::int64_t kPart = 1024;  // so that checked indices are still in the first cache
    for (std::int64_t first = 0; first < length_; first += kPart) {
      const std::int64_t n = std::min(kPart, length_ - first);
      const std::byte* at = p[1] + first * at_;
      if (!are_inside(at, at_, n)) return false;
      std::byte* to = p[0] + (kGathers ? first * to_ : 0);
      const std::byte* from = p[2] + (kGathers ? 0 : first * from_);
      if (to_ == kItem && at_ == kIndex && from_ == kItem) {
        move_part(n, to, at, from, std::integral_constant<std::int64_t, kItem>(),
                  std::integral_constant<std::int64_t, kIndex>(),
                  std::integral_constant<std::int64_t, kItem>());
      } else {
        move_part(n, to, at, from, to_, at_, from_);
      }
    }
    return true;
  }

  template <class To, class At, class From>
  static void move_part(std::int64_t n, std::byte* to, const std::byte* at, const std::byte* from,
                        To to_step, At at_step, From from_step) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t position = index_at(at + j * at_step);
      write_to<kWrite, T>(to + (kGathers ? j : position) * to_step,
                          from + (kGathers ? position : j) * from_step);
    }
  }

  std::int64_t length_, to_, at_, from_;  // the length of a line, and the steps along it in bytes
  std::int64_t rows_;  // the size in `dim` of the array that the index points into
  std::int64_t size_;
  Array first_to_, first_at_, first_from_;  // the first element of each line
};

// True if all lines share one index and are neighbours in the output.
bool goes_by_slices(const Array& out, const Array& index, std::int64_t dim) {
  bool is_shared = true, are_neighbours = false;
  for (std::int64_t d = 0; d < index.rank(); ++d) {
    if (d == dim || index.size(d) == 1) continue;
    is_shared = is_shared && index.strides()[d] == 0;
    are_neighbours = are_neighbours || out.strides()[d] == 1;
  }
  return is_shared && are_neighbours;
}

constexpr std::int64_t kMinLines = 16;  // per chunk, so that a thread writes whole cache lines

std::int64_t line_grain(std::int64_t length) {
  return std::max(kMinLines, kElementGrain / length);
}

}  // namespace

bool gather_lines(const Array& out, const Array& a, std::int64_t dim, const Array& index,
                  std::int64_t size) {
  const std::int64_t length = index.size(dim), lines = index.numel() / length;
  std::atomic<bool> good = true;
  visit_dtype(out.dtype(), [&](auto tag) {
    using Gather = Mover<true, Write::replace, typename decltype(tag)::type>;
    if (lines >= kMinLines && !goes_by_slices(out, index, dim)) {
      good = Gather(out, index, a, dim, size).run(line_grain(length));
      return;
    }
    parallel_for(0, length, kElementGrain / lines, [&](std::int64_t begin, std::int64_t end) {
      const Gather part(out.narrow(dim, begin, end - begin), index.narrow(dim, begin, end - begin),
                        a, dim, size);
      if (!part.run(kAll)) good = false;
    });
  });
  return good;
}

namespace {

// One thread writes each line, in the order of its indices. Slices are different: each thread reads
// all indices, and writes only to its own range of positions.
template <Write kWrite, class T>
bool scatter_typed(const Array& out, std::int64_t dim, const Array& index, const Array& src,
                   std::int64_t size, std::int64_t reach) {
  const Mover<false, kWrite, T> mover(out, index, src, dim, size);
  const std::int64_t length = index.size(dim);
  if (!goes_by_slices(out, index, dim)) return mover.run(line_grain(length));
  constexpr std::int64_t kMostParts = 8;  // each part reads all indices
  const std::int64_t parts = std::clamp<std::int64_t>(index.numel() / kElementGrain, 1, kMostParts);
  std::atomic<bool> good = true;
  parallel_for(0, std::max<std::int64_t>(reach, 1), reach / parts + 1,
               [&](std::int64_t low, std::int64_t high) {
                 if (!mover.run(kAll, low, high)) good = false;
               });
  return good;
}

}  // namespace

bool scatter_lines(Write how, const Array& out, std::int64_t dim, const Array& index,
                   const Array& src, std::int64_t size, std::int64_t reach) {
  return visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (how) {
      case Write::replace:
        return scatter_typed<Write::replace, T>(out, dim, index, src, size, reach);
      case Write::add: return scatter_typed<Write::add, T>(out, dim, index, src, size, reach);
      case Write::multiply:
        return scatter_typed<Write::multiply, T>(out, dim, index, src, size, reach);
      case Write::max: return scatter_typed<Write::max, T>(out, dim, index, src, size, reach);
      case Write::min: break;
    }
    return scatter_typed<Write::min, T>(out, dim, index, src, size, reach);
  });
}

}  // namespace tend::kernels
