#include <tend/core/kernels/rows/softmax_loops.h>

#include <algorithm>
#include <limits>

#include <tend/core/array/array.h>
#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/kernels/simd/prefetch.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rows/softmax_loops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include <tend/core/kernels/rows/softmax_operations.h>
#include <tend/core/kernels/simd/simd_loop.h>
#include <tend/core/kernels/simd/simd_rows.h>

#ifndef TEND_CORE_KERNELS_SOFTMAX_LOOPS_KERNELS
#define TEND_CORE_KERNELS_SOFTMAX_LOOPS_KERNELS
namespace tend::kernels {

template <class T>
struct SoftmaxKernels {
  void (*lines)(SoftmaxKind kind, SoftmaxLayout layout, const SoftmaxLines<T>& lines);
  void (*precise_exp)(std::int64_t n, T* x);
};

// `pointer` moved by `bytes`.
template <class T>
T* moved(T* pointer, std::int64_t bytes) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it may leave the array, where it is not read
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) +
                              static_cast<std::uintptr_t>(bytes));
}

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// Pointers to a row. `kept` receives the results of term(). It points to the output, or to a buffer
// if the output is streamed.
template <class T>
struct Row {
  T* out;
  const T* a;
  const T* b;
  T* kept;
};

// Sums the terms of `row`. The same loop computes the results of the row `before`, if there is one:
// these results do not depend on the sum, so neither waits for the other. `max` is the maximum of
// `row`, and is replaced by the maximum of the row `next`, so that no row waits for its own
// maximum. With `prefetches`, memory some distance after `next` is prefetched.
template <class Op, bool kHasBefore, class T, class V = hn::Vec<RowTag<T>>>
HWY_INLINE V walk(std::size_t n, const Row<T>& row, const Row<T>& before, V before_max,
                  V before_total, bool streamed, V& max, const T* next, bool prefetches) {
  const RowTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  V next_max = hn::LoadU(d, next);
  const auto term = [&](std::size_t i, V x, V y) HWY_ATTR {
    if constexpr (Op::kUsesMax) {
      if (prefetches) {
        prefetch_ahead(next + i);
        if (!streamed) prefetch_ahead(row.out + i);
      }
      next_max = hn::Max(next_max, hn::LoadU(d, next + i));
    }
    const V t = Op::term(d, x, y, max);
    if constexpr (Op::kKeepsTerms) hn::StoreU(t, d, row.kept + i);
    return t;
  };
  const T* from = Op::kKeepsTerms ? before.kept : before.a;
  const T* from_b = Op::kKeepsTerms ? from : before.b;
  const auto finish = [&](std::size_t i, V x, V y) HWY_ATTR {
    const V value = Op::value(d, x, y, before_max, before_total);
    streamed ? hn::Stream(value, d, before.out + i) : hn::StoreU(value, d, before.out + i);
  };
  // The last vectors end where the rows end, and may overlap earlier vectors. They are read first,
  // since the output may be the same memory as an input.
  const V last_x = hn::LoadU(d, row.a + n - lanes), last_y = hn::LoadU(d, row.b + n - lanes);
  V last_from = last_x, last_from_b = last_y;
  if constexpr (kHasBefore) {
    last_from = hn::LoadU(d, from + n - lanes);
    last_from_b = hn::LoadU(d, from_b + n - lanes);
  }
  V sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    sum = hn::Add(sum, term(i, hn::LoadU(d, row.a + i), hn::LoadU(d, row.b + i)));
    if constexpr (kHasBefore) finish(i, hn::LoadU(d, from + i), hn::LoadU(d, from_b + i));
  }
  if (i < n) {
    const V rest = term(n - lanes, last_x, last_y);
    sum = hn::Add(sum, hn::IfThenZeroElse(hn::FirstN(d, i - (n - lanes)), rest));
    if constexpr (kHasBefore) finish(n - lanes, last_from, last_from_b);
  }
  if constexpr (Op::kUsesMax) max = hn::MaxOfLanes(d, next_max);
  return Op::total(d, hn::SumOfLanes(d, sum));
}

template <class Op, class T>
HWY_INLINE void finish_row(std::size_t n, const Row<T>& row, hn::Vec<RowTag<T>> max,
                           hn::Vec<RowTag<T>> total, bool streamed) {
  const RowTag<T> d;
  using V = hn::Vec<RowTag<T>>;
  const T* from = Op::kKeepsTerms ? row.kept : row.a;
  for_row<T>(n, from, Op::kKeepsTerms ? from : row.b, [&](std::size_t i, V x, V y) HWY_ATTR {
    const V value = Op::value(d, x, y, max, total);
    streamed ? hn::Stream(value, d, row.out + i) : hn::StoreU(value, d, row.out + i);
    return x;
  });
}

template <class Op, class T>
HWY_INLINE void rows_of(const SoftmaxLines<T>& lines, bool may_stream) {
  // A streamed row is computed in a buffer, which must fit the L1 cache.
  constexpr std::size_t kMaxStreamed = 16384 / sizeof(T);
  HWY_ALIGN T buffer[2 * kMaxStreamed];
  const auto n = static_cast<std::size_t>(lines.n);
  const bool streamed = may_stream && n <= kMaxStreamed;
  auto max = hn::Zero(RowTag<T>()), before_max = max, total = max;
  if constexpr (Op::kUsesMax) max = row_max(n, lines.a);
  const auto row_bytes = static_cast<std::int64_t>(n * sizeof(T));
  const bool prefetches = lines.a_step == row_bytes && lines.out_step == row_bytes &&
                          pays_to_prefetch(static_cast<std::size_t>(lines.count * row_bytes));
  Row<T> before{};
  for (std::int64_t r = 0; r < lines.count; ++r) {
    T* out = moved(lines.out, r * lines.out_step);
    const T* a = moved(lines.a, r * lines.a_step);
    const Row<T> row{out, a, moved(lines.b, r * lines.b_step),
                     streamed ? buffer + static_cast<std::size_t>(r % 2) * n : out};
    const T* next = r + 1 < lines.count ? moved(a, lines.a_step) : a;
    const auto max_of_row = max;
    total =
        r == 0 ? walk<Op, false>(n, row, before, before_max, total, streamed, max, next, prefetches)
               : walk<Op, true>(n, row, before, before_max, total, streamed, max, next, prefetches);
    before = row;
    before_max = max_of_row;
  }
  finish_row<Op>(n, before, before_max, total, streamed);
  if (streamed) hwy::FlushStream();
}

constexpr std::int64_t kMaxColumns = 1024;  // columns that are computed together

// The maxima and the sums of columns. Maxima begin with lowest() and not with -inf, so that
// infinities are not subtracted from each other while all elements are -inf.
template <class T>
struct ColumnSums {
  T* max;
  T* sums;
};

// Merges the maxima and sums of other elements of the same columns into `into`.
template <class Op, class T>
HWY_INLINE void merge_columns(std::size_t width, ColumnSums<T> into, ColumnSums<T> from) {
  for_row_vectors<T>(width, [&](auto d, std::size_t j) HWY_ATTR {
    auto sum = hn::LoadU(d, into.sums + j), other = hn::LoadU(d, from.sums + j);
    if constexpr (Op::kUsesMax) {
      const auto max = hn::LoadU(d, into.max + j), others = hn::LoadU(d, from.max + j);
      const auto larger = hn::Max(max, others);
      sum = hn::Mul(sum, exp_not_positive(d, hn::Sub(max, larger)));
      other = hn::Mul(other, exp_not_positive(d, hn::Sub(others, larger)));
      hn::StoreU(larger, d, into.max + j);
    }
    hn::StoreU(hn::Add(sum, other), d, into.sums + j);
  });
}

// Computes the maxima and sums of rows [begin, end) of the columns. These rows fit the L1 or L2
// cache.
template <class Op, class T>
HWY_INLINE void sum_few_rows(const SoftmaxLines<T>& lines, std::int64_t begin, std::int64_t end,
                             ColumnSums<T> to) {
  const auto width = static_cast<std::size_t>(lines.count);
  std::fill_n(to.max, width, std::numeric_limits<T>::lowest());
  std::fill_n(to.sums, width, T(0));
  if constexpr (Op::kUsesMax) {
    for (std::int64_t i = begin; i < end; ++i) {
      for_row_vectors<T>(
          width, [&, x = moved(lines.a, i * lines.a_step)](auto d, std::size_t j) HWY_ATTR {
            hn::StoreU(hn::Max(hn::LoadU(d, to.max + j), hn::LoadU(d, x + j)), d, to.max + j);
          });
    }
  }
  for (std::int64_t i = begin; i < end; ++i) {
    const T* x = moved(lines.a, i * lines.a_step);
    const T* y = moved(lines.b, i * lines.b_step);
    for_row_vectors<T>(width, [&](auto d, std::size_t j) HWY_ATTR {
      const auto max = hn::LoadU(d, to.max + j);
      const auto term = Op::term(d, hn::LoadU(d, x + j), hn::LoadU(d, y + j), max);
      hn::StoreU(hn::Add(hn::LoadU(d, to.sums + j), term), d, to.sums + j);
    });
  }
}

template <class Op, class T>
HWY_INLINE void sum_rows(const SoftmaxLines<T>& lines, ColumnSums<T> to) {
  constexpr std::int64_t kFewRows = 32;
  HWY_ALIGN T max[kMaxColumns], sums[kMaxColumns];
  sum_few_rows<Op>(lines, 0, std::min(lines.n, kFewRows), to);
  for (std::int64_t i = kFewRows; i < lines.n; i += kFewRows) {
    sum_few_rows<Op, T>(lines, i, std::min(lines.n, i + kFewRows), {max, sums});
    merge_columns<Op, T>(static_cast<std::size_t>(lines.count), to, {max, sums});
  }
}

// Merges the maxima and sums of all blocks, which are `step` elements apart, into the first block,
// and turns its sums into totals.
template <class Op, class T>
HWY_INLINE void merge_blocks(std::size_t width, std::int64_t blocks, std::size_t step,
                             ColumnSums<T> first) {
  for (ColumnSums<T> block = first; --blocks > 0;) {
    block = {block.max + step, block.sums + step};
    merge_columns<Op, T>(width, first, block);
  }
  for_row_vectors<T>(width, [&](auto d, std::size_t j) HWY_ATTR {
    hn::StoreU(Op::total(d, hn::LoadU(d, first.sums + j)), d, first.sums + j);
  });
}

template <class Op, class T>
HWY_INLINE void compute_values(const SoftmaxLines<T>& lines, const T* max, const T* totals) {
  for (std::int64_t i = 0; i < lines.n; ++i) {
    const T* a = moved(lines.a, i * lines.a_step);
    const T* b = moved(lines.b, i * lines.b_step);
    T* to = moved(lines.out, i * lines.out_step);
    for_row_vectors<T>(static_cast<std::size_t>(lines.count), [&](auto d, std::size_t j) HWY_ATTR {
      auto x = hn::LoadU(d, a + j);
      const auto y = hn::LoadU(d, b + j), largest = hn::LoadU(d, max + j);
      if constexpr (Op::kKeepsTerms) x = Op::term(d, x, y, largest);
      hn::StoreU(Op::value(d, x, y, largest, hn::LoadU(d, totals + j)), d, to + j);
    });
  }
}

// The rows of the columns are cut into blocks, which are summed separately and in parallel.
template <class Op, class T>
HWY_INLINE void columns_of(const SoftmaxLines<T>& columns) {
  constexpr std::int64_t kBlock = 128;
  const std::int64_t blocks = (columns.n - 1) / kBlock + 1;
  const std::int64_t strips = (columns.count - 1) / kMaxColumns + 1;
  const Array buffer = Array::empty({2, blocks, columns.count}, dtype_of<T>());
  T* const max = buffer.data<T>();
  T* const sums = max + blocks * columns.count;
  // Calls f(part of the columns and rows, offset of its sums, its first column) for every part.
  const auto for_parts = [&](auto f) HWY_ATTR {
    parallel_for(0, blocks * strips, 1, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t block = part / strips, first = part % strips * kMaxColumns;
        SoftmaxLines<T> lines = columns;
        lines.count = std::min(kMaxColumns, columns.count - first);
        lines.n = std::min(kBlock, columns.n - block * kBlock);
        lines.out = moved(columns.out + first, block * kBlock * columns.out_step);
        lines.a = moved(columns.a + first, block * kBlock * columns.a_step);
        lines.b = moved(columns.b + first, block * kBlock * columns.b_step);
        f(lines, block * columns.count + first, first);
      }
    });
  };
  for_parts([&](const SoftmaxLines<T>& lines, std::int64_t at, std::int64_t) HWY_ATTR {
    sum_rows<Op, T>(lines, {max + at, sums + at});
  });
  parallel_for(0, columns.count, 256, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    merge_blocks<Op, T>(static_cast<std::size_t>(end - begin), blocks,
                        static_cast<std::size_t>(columns.count), {max + begin, sums + begin});
  });
  for_parts([&](const SoftmaxLines<T>& lines, std::int64_t, std::int64_t first)
                HWY_ATTR { compute_values<Op>(lines, max + first, sums + first); });
}

template <class Op, class T>
void lines_of(SoftmaxLayout layout, const SoftmaxLines<T>& lines) {
  if (layout == SoftmaxLayout::columns) return columns_of<Op>(lines);
  rows_of<Op>(lines, layout == SoftmaxLayout::streamed_rows);
}

template <class T>
void compute_lines(SoftmaxKind kind, SoftmaxLayout layout, const SoftmaxLines<T>& lines) {
  switch (kind) {
    case SoftmaxKind::softmax: return lines_of<Softmax>(layout, lines);
    case SoftmaxKind::log_softmax: return lines_of<LogSoftmax>(layout, lines);
    case SoftmaxKind::softmax_backward: return lines_of<SoftmaxBackward>(layout, lines);
    case SoftmaxKind::log_softmax_backward: return lines_of<LogSoftmaxBackward>(layout, lines);
  }
}

template <class T>
void make_powers(std::int64_t n, T* x) {
  const hn::CappedTag<double, 16> wide;
  const hn::Rebind<T, decltype(wide)> d;
  for (T* end = x + n; x < end; x += hn::Lanes(d)) {
    if constexpr (std::is_same_v<T, float>) {
      hn::StoreU(hn::DemoteTo(d, exp(wide, hn::PromoteTo(wide, hn::LoadU(d, x)))), d, x);
    } else {
      hn::StoreU(exp(d, hn::LoadU(d, x)), d, x);
    }
  }
}

const ForTypes<SoftmaxKernels>& find_softmax_kernels() {
  static constexpr ForTypes<SoftmaxKernels> kAll = {{compute_lines, make_powers},
                                                    {compute_lines, make_powers}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_softmax_kernels);

template <class T>
void softmax_lines(SoftmaxKind kind, SoftmaxLayout layout, const SoftmaxLines<T>& lines) {
  HWY_DYNAMIC_DISPATCH(find_softmax_kernels)().of<T>().lines(kind, layout, lines);
}

template <class T>
void precise_exp(std::int64_t n, T* x) {
  HWY_DYNAMIC_DISPATCH(find_softmax_kernels)().of<T>().precise_exp(n, x);
}

template void softmax_lines(SoftmaxKind, SoftmaxLayout, const SoftmaxLines<float>&);
template void softmax_lines(SoftmaxKind, SoftmaxLayout, const SoftmaxLines<double>&);
template void precise_exp(std::int64_t, float*);
template void precise_exp(std::int64_t, double*);

}  // namespace tend::kernels
#endif  // HWY_ONCE
