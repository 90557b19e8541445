#include <tend/core/kernels/matmul/few_rows.h>

#include <algorithm>

#include <tend/core/kernels/matmul/gemm_tiles.h>
#include <tend/core/kernels/simd/simd_targets.h>
#include <tend/core/threads/parallel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/matmul/few_rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <tend/core/kernels/matmul/tile_product.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

template <class T>
constexpr std::size_t kLine = 64 / sizeof(T);

// The number of elements that are copied at a time from each contiguous column of b.
template <class T>
constexpr std::size_t kChunk = 4 * kLine<T>;

// Columns of b up to this length count as short, such as the transposed keys of a head. They are
// close together, so a copy would cost more than it gains.
template <class T>
constexpr std::size_t kShortColumn = 2 * kChunk<T>;

// Loads one element of b for each lane, from neighbouring columns. The columns are `step` elements
// apart.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_row(D d, const T* from, std::size_t step) {
  if (step == 1) return hn::LoadU(d, from);
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = from[i * step];
  return hn::Load(d, lanes);
}

#if HWY_TARGET != HWY_SCALAR
// Loads a vector whose 128-bit blocks are `step` elements apart.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* from, std::size_t step) {
  if constexpr (hn::MaxLanes(D()) <= kBlockLanes<T>) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kBlocks = hn::MaxLanes(decltype(half)()) / kBlockLanes<T>;
    return hn::Combine(d, load_blocks(half, from + kBlocks * step, step),
                       load_blocks(half, from, step));
  }
}

// Fetches cache lines of some of the `count` columns of b that follow the current ones. The current
// columns begin at `b`, `step` elements apart. While `at` runs over a column, the calls fetch most
// lines of the next columns. Hardware prefetchers do not foresee the order in which columns are
// read.
template <class T>
HWY_INLINE void prefetch_columns(const T* b, std::size_t step, std::size_t count, std::size_t at) {
  constexpr std::size_t kSteps = kLine<T> / kBlockLanes<T>;
  // Columns that are further apart than this share a few sets of the first cache, which are too
  // small for all of them.
  constexpr std::size_t kClose = 8 * kLine<T>;
  const std::size_t share = count / kSteps;
  const T* next = b + (count + at % kLine<T> / kBlockLanes<T> * share) * step + at;
  if (step <= kClose) {
    for (std::size_t i = 0; i < share; ++i) __builtin_prefetch(next + i * step, 0, 3);
  } else {
    for (std::size_t i = 0; i < share; ++i) __builtin_prefetch(next + i * step, 0, 2);
  }
}

// Copies `count` elements of each column of b that a vector covers, in the order in which
// transpose_blocks reads them. Each cache line is read only once: columns whose distance is a
// multiple of 4 KB share a set of the first cache, which would evict their lines before all
// elements are used.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void copy_chunk(D d, const T* HWY_RESTRICT b, std::size_t step, std::size_t count,
                           const T* HWY_RESTRICT next, T* HWY_RESTRICT chunk) {
  constexpr std::size_t kBlock = kBlockLanes<T>;
  const hn::CappedTag<T, kBlock> block;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < lanes; ++i) {
    // There are more columns than hardware prefetchers follow.
    for (std::size_t j = 0; j < kChunk<T>; j += kLine<T>) {
      __builtin_prefetch(next + i * step + j, 0, 2);
    }
    T* to = chunk + i % kBlock * lanes + i / kBlock * kBlock;
    for (std::size_t j = 0; j < count; j += kBlock) {
      hn::Store(hn::LoadU(block, b + i * step + j), block, to + j * lanes);
    }
  }
}
#endif

// Computes kRows rows by kVectors vectors of columns.
template <std::size_t kRows, std::size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void multiply_columns(D d, const FewRows<T>& p, const T* HWY_RESTRICT a,
                                   T* HWY_RESTRICT c, std::size_t column) {
  const std::size_t lanes = hn::Lanes(d);
  const T* b = p.b + column * p.b_column;
  hn::Vec<D> sums[kRows * kVectors];
  unroll<kRows * kVectors>([&](auto at) HWY_ATTR { sums[at()] = hn::Zero(d); });
  const auto add = [&](auto v, std::size_t at, hn::Vec<D> elements) HWY_ATTR {
    unroll<kRows>([&](auto i) HWY_ATTR {
      auto& sum = sums[i() * kVectors + v()];
      sum = hn::MulAdd(hn::Set(d, a[i() * p.a_row + at]), elements, sum);
    });
  };
  std::size_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t kBlock = kBlockLanes<T>;
  if constexpr (hn::MaxLanes(D()) >= kBlock) {
    const auto add_block = [&](auto v, auto load) HWY_ATTR {
      hn::Vec<D> columns[kBlock], rows[kBlock];
      unroll<kBlock>([&](auto i) HWY_ATTR { columns[i()] = load(i()); });
      transpose_blocks(d, columns, rows);
      unroll<kBlock>([&](auto i) HWY_ATTR { add(v, at + i(), rows[i()]); });
    };
    if (p.b_step == 1 && p.k <= kShortColumn<T>) {
      // A pointer to each of the first kBlock columns of every vector. It moves along the column.
      // Addresses computed from `at` would not fit into registers.
      const T* from[kVectors * kBlock];
      unroll<kVectors * kBlock>([&](auto i) HWY_ATTR {
        from[i()] = b + (i() / kBlock * lanes + i() % kBlock) * p.b_column;
      });
      const std::size_t step = kBlock * p.b_column;
      for (; at + kBlock <= p.k; at += kBlock) {
        prefetch_columns(b, p.b_column, kVectors * lanes, at);
        unroll<kVectors>([&](auto v) HWY_ATTR {
          add_block(v, [&](std::size_t i) HWY_ATTR {
            const T* const columns = from[v() * kBlock + i];
            from[v() * kBlock + i] += kBlock;
            return load_blocks(d, columns, step);
          });
        });
      }
    }
    HWY_ALIGN T chunk[kVectors][hn::MaxLanes(D()) * kChunk<T>];
    while (p.b_step == 1 && at + kBlock <= p.k) {
      const std::size_t count = std::min(kChunk<T>, (p.k - at) / kBlock * kBlock);
      // After the end of the columns, `next` points to the following columns.
      const T* next = at + count < p.k ? b + at + count : b + kVectors * lanes * p.b_column;
      unroll<kVectors>([&](auto v) HWY_ATTR {
        const std::size_t first = v() * lanes * p.b_column;
        copy_chunk(d, b + first + at, p.b_column, count, next + first, chunk[v()]);
      });
      for (std::size_t j = 0; j < count; j += kBlock, at += kBlock) {
        unroll<kVectors>([&](auto v) HWY_ATTR {
          add_block(
              v, [&](std::size_t i) HWY_ATTR { return hn::Load(d, chunk[v()] + (j + i) * lanes); });
        });
      }
    }
  }
#endif
  constexpr std::size_t kAhead = 16;  // in rows of b; hardware prefetchers do not foresee them
  for (; at < p.k; ++at) {
    unroll<kVectors>([&](auto v) HWY_ATTR {
      const T* from = b + at * p.b_step + v() * lanes * p.b_column;
      if (p.b_column == 1) hwy::Prefetch(from + kAhead * p.b_step);
      add(v, at, load_row(d, from, p.b_column));
    });
  }
  const auto alpha = hn::Set(d, p.alpha), beta = hn::Set(d, p.beta);
  unroll<kRows>([&](auto i) HWY_ATTR {
    unroll<kVectors>([&](auto v) HWY_ATTR {
      T* const to = c + i() * p.c_row + column + v() * lanes;
      auto sum = hn::Mul(alpha, sums[i() * kVectors + v()]);
      if (p.beta != T(0)) sum = hn::Add(sum, hn::Mul(beta, hn::LoadU(d, to)));
      if (p.bias) sum = hn::Add(sum, hn::LoadU(d, p.bias + column + v() * lanes));
      hn::StoreU(sum, d, to);
    });
  });
}

// Computes all rows of kVectors vectors of columns. The registers hold the sums of all rows by one
// vector, of four rows by two, or of two rows by four. Shorter vectors process at most four rows at
// a time, since a product uses each shorter length at most once, and code for five to seven rows
// would make this file's code a fifth larger.
template <std::size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_rows(D d, const FewRows<T>& p, std::size_t column) {
  const T* a = p.a;
  T* c = p.c;
  std::size_t rows = p.rows;
  const auto next = [&](auto count) HWY_ATTR {
    multiply_columns<count(), kVectors>(d, p, a, c, column);
    a += count() * p.a_row;
    c += count() * p.c_row;
    rows -= count();
  };
  if constexpr (kVectors == 4) {
    if (rows == 2) return next(std::integral_constant<std::size_t, 2>());
    return next(std::integral_constant<std::size_t, 1>());
  }
  constexpr bool kIsWhole = hn::MaxLanes(D()) == hn::MaxLanes(hn::ScalableTag<T>());
  if constexpr (kVectors == 1 && kIsWhole) {
    if (rows == 7) return next(std::integral_constant<std::size_t, 7>());
    if (rows == 6) return next(std::integral_constant<std::size_t, 6>());
    if (rows == 5) return next(std::integral_constant<std::size_t, 5>());
  }
  if (rows >= 4) next(std::integral_constant<std::size_t, 4>());
  if (rows == 3) next(std::integral_constant<std::size_t, 3>());
  if (rows >= 2) next(std::integral_constant<std::size_t, 2>());
  if (rows >= 1) next(std::integral_constant<std::size_t, 1>());
}

// Computes the last columns, fewer than two vectors, with shorter and shorter vectors.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_last(D d, const FewRows<T>& p, std::size_t column) {
  const std::size_t lanes = hn::Lanes(d);
  if (column + lanes <= p.columns) {
    multiply_rows<1>(d, p, column);
    column += lanes;
  }
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (column < p.columns) multiply_last(hn::CappedTag<T, hn::MaxLanes(D()) / 2>(), p, column);
  }
}

template <class T>
void multiply_few(const FewRows<T>& p) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  // Four sums hide the latency of an addition. Two sums are enough if the columns of b are
  // contiguous, since transposing them takes time as well. Pointers to the columns of four vectors
  // would not fit into registers.
  if (p.rows <= 2 && p.k <= kShortColumn<T> && p.b_step != 1) {
    for (; column + 4 * lanes <= p.columns; column += 4 * lanes) multiply_rows<4>(d, p, column);
  }
  if (p.rows <= 4) {
    for (; column + 2 * lanes <= p.columns; column += 2 * lanes) multiply_rows<2>(d, p, column);
  }
  for (; column + 2 * lanes <= p.columns; column += lanes) multiply_rows<1>(d, p, column);
  multiply_last(d, p, column);
}

const ForTypes<FewRowsKernel>& find_multiply_few() {
  static constexpr ForTypes<FewRowsKernel> kAll = {multiply_few, multiply_few};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_multiply_few);

const ForTypes<FewRowsKernel>& few_rows_kernels() {
  return HWY_DYNAMIC_DISPATCH(find_multiply_few)();
}

namespace {

// The part of a product that sums `count` terms, beginning with term `begin`.
template <class T>
FewRows<T> part_of(const MatrixProduct<T>& product, std::int64_t begin, std::int64_t count) {
  const auto& [c, a, b, alpha, beta, bias] = product;
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  return {.rows = size(c.rows),
          .columns = size(c.cols),
          .k = size(count),
          .a = &a.at(0, begin),
          .a_row = size(a.row_stride),
          .b = &b.at(begin, 0),
          .b_step = size(b.row_stride),
          .b_column = size(b.col_stride),
          .c = c.data,
          .c_row = size(c.row_stride),
          .alpha = alpha,
          .beta = begin == 0 ? beta : T(1),
          .bias = begin == 0 ? bias : nullptr};
}

template <class T>
void multiply_block(const MatrixProduct<T>& product) {
  const FewRowsKernel<T> multiply = few_rows_kernels().of<T>();
  for (std::int64_t k = 0; k < product.a.cols; k += kTileDepth) {
    multiply(part_of(product, k, std::min(kTileDepth, product.a.cols - k)));
  }
}

}  // namespace

template <class T>
void multiply_few_rows(const MatrixProduct<T>& first, const Batch& batch) {
  // A task takes about 10 us. All tasks of a product are equal, except for the last columns.
  constexpr std::int64_t kTaskWork = 1 << 16, kStep = 32;
  const std::int64_t columns = first.c.cols, work = columns * first.a.cols;
  const std::int64_t wanted = std::max<std::int64_t>(1, (work + kTaskWork / 2) / kTaskWork);
  const std::int64_t width = ((columns - 1) / wanted / kStep + 1) * kStep;
  const std::int64_t parts = (columns - 1) / width + 1;
  const std::int64_t grain = 1 + kTaskWork / (1 + work / parts);
  parallel_for(0, batch.count() * parts, grain, [&](auto begin, auto end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const MatrixProduct<T> product = batch.item(first, task / parts);
      const std::int64_t column = task % parts * width;
      multiply_block(
          product.block(0, product.c.rows, column, std::min(width, product.c.cols - column)));
    }
  });
}

template void multiply_few_rows(const MatrixProduct<float>&, const Batch&);
template void multiply_few_rows(const MatrixProduct<double>&, const Batch&);

}  // namespace tend::kernels
#endif  // HWY_ONCE
