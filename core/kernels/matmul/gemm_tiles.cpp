#include <tend/core/kernels/matmul/gemm_tiles.h>

#include <algorithm>

#include <tend/core/kernels/matmul/tiles.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

// The number of rows of c that one task computes. It is small, so that the other threads do not
// wait long for the last task. For a b of at least kLargeB elements, which does not fit the L2
// cache, blocks have more rows, so that b is read less often. Both numbers are multiples of a
// tile's rows.
constexpr std::int64_t kBlockRows = 48, kHighBlockRows = 192, kLargeB = 1 << 20;
// A batch of few, large products is computed one product after the other, each by all threads. Few:
// below kManyProducts. Large: at least kSharedTileWork multiplications. Otherwise each product is
// computed by one thread, in chunks of kTileGrainWork.
constexpr std::int64_t kManyProducts = 8;
constexpr double kSharedTileWork = 1e6;
constexpr double kTileGrainWork = 250e3;

std::size_t unsigned_of(std::int64_t size) {
  return static_cast<std::size_t>(size);
}

// If b spans at least this many elements, it is packed. Rows of b that are far apart map to few
// cache sets, which evict them before the next rows of a need them again. AVX-512's panels are four
// times as wide, so b is read a quarter as often. On a Zen 3 with AVX2 (n = 512, one thread),
// products with the lower limit are 1.17 times as fast in float32, and 1.3 times in float64, as
// with AVX-512's limit.
std::int64_t far_rows(std::size_t vector_bytes) {
  return vector_bytes == 64 ? 3 << 18 : 3 << 16;
}

// The same limit for the columns of an a whose columns are contiguous.
constexpr std::int64_t kFarColumns = 3 << 16;

template <class T>
std::int64_t panel_width() {
  return static_cast<std::int64_t>(tile_kernels().of<T>().panel_width);
}

// Packed rows of a have this many unused elements after them. At distances that are powers of two,
// rows would map to one cache set.
constexpr std::int64_t kPad = 16;

// How the products of one shape and layout are computed, and what is packed for them.
template <class T>
struct Plan {
  std::int64_t m, n, k, block_rows;
  bool packs_a, packs_b;
  Rounding rounding;

  Plan(const MatrixProduct<T>& p, Rounding round)
      : m(p.c.rows), n(p.c.cols), k(p.a.cols), block_rows(kBlockRows), rounding(round) {
    if (k * n >= kLargeB) {  // an even number of blocks, since two threads may share them
      constexpr std::int64_t kStep = 6;
      const std::int64_t blocks = 2 * ((m - 1) / (2 * kHighBlockRows) + 1);
      block_rows = ((m - 1) / blocks / kStep + 1) * kStep;
    }
    const bool b_rows = p.b.col_stride == 1 || n == 1;
    const std::int64_t far = far_rows(tile_kernels().of<T>().vector_bytes);
    packs_b = !b_rows || (m >= 2 * kBlockRows && k * p.b.row_stride >= far);
    const bool a_rows = p.a.col_stride == 1 || k == 1;
    packs_a = !a_rows && k * p.a.col_stride >= kFarColumns;
  }

  std::int64_t width() const { return panel_width<T>(); }
  std::int64_t panels() const { return (n + width() - 1) / width(); }
  std::int64_t blocks() const { return (m - 1) / block_rows + 1; }
  // Each block of rows is divided into this number of groups of panels, so that there are enough
  // tasks if there are few blocks.
  std::int64_t groups() const {
    constexpr std::int64_t kTasks = 16;
    return std::min(panels(), (kTasks - 1) / blocks() + 1);
  }
};

template <class T>
Array make_scratch(std::int64_t size) {
  return Array::empty({size}, dtype_of<T>());
}

template <class T>
void pack_panels(const Plan<T>& plan, const Matrix<const T>& b, T* to, std::int64_t first,
                 std::int64_t last) {
  const std::int64_t width = plan.width();
  for (std::int64_t i = first; i < last; ++i) {
    tile_kernels().of<T>().pack(
        unsigned_of(plan.k), unsigned_of(std::min(width, plan.n - i * width)), &b.at(0, i * width),
        unsigned_of(b.row_stride), unsigned_of(plan.n == 1 ? 1 : b.col_stride),
        to + i * width * plan.k);
  }
}

// Computes rows [row, row + rows) and panels [first, last) of the product. `panels` is the packed
// b, or null. `lines` has room for these rows of a, if they are to be packed.
template <class T>
void multiply_block(const Plan<T>& plan, const MatrixProduct<T>& p, const T* panels, T* lines,
                    std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t last) {
  const std::int64_t left = first * plan.width();
  Tile<T> tile{};
  tile.m = unsigned_of(rows);
  tile.n = unsigned_of(std::min(plan.n, last * plan.width()) - left);
  tile.k = unsigned_of(plan.k);
  tile.a = &p.a.at(row, 0);
  tile.a_row = unsigned_of(p.a.row_stride);
  tile.a_step = unsigned_of(p.a.col_stride);
  if (plan.packs_a) {
    tile.a_row = unsigned_of(plan.k + kPad);
    tile_kernels().of<T>().transpose(tile.k, tile.m, tile.a, tile.a_step, lines, tile.a_row);
    tile.a = lines;
    tile.a_step = 1;
  }
  tile.b = panels ? panels + left * plan.k : &p.b.at(0, left);
  tile.b_row = panels ? unsigned_of(plan.width()) : unsigned_of(p.b.row_stride);
  tile.b_panel = unsigned_of(panels ? plan.width() * plan.k : plan.width());
  tile.c = &p.c.at(row, left);
  tile.c_row = unsigned_of(p.c.row_stride);
  tile.alpha = p.alpha;
  tile.beta = p.beta;
  tile.bias = p.bias ? p.bias + left : nullptr;
  tile_kernels().of<T>().multiply(tile, plan.rounding);
}

// Packs the rows of a into `lines`, and returns the product with the packed a.
template <class T>
MatrixProduct<T> with_packed_a(const MatrixProduct<T>& p, const Array& lines) {
  MatrixProduct<T> packed = p;
  packed.a.data = lines.data<T>();
  packed.a.row_stride = p.a.cols + kPad;
  packed.a.col_stride = 1;
  parallel_for(0, p.a.rows, kBlockRows, [&](std::int64_t begin, std::int64_t end) {
    tile_kernels().of<T>().transpose(unsigned_of(p.a.cols), unsigned_of(end - begin),
                                     &p.a.at(begin, 0), unsigned_of(p.a.col_stride),
                                     lines.data<T>() + begin * (p.a.cols + kPad),
                                     unsigned_of(p.a.cols + kPad));
  });
  return packed;
}

// Computes one product on all threads.
template <class T>
void multiply_shared(const Plan<T>& plan, const MatrixProduct<T>& p) {
  if (plan.packs_a && plan.groups() > 1) {  // otherwise every group would pack the same rows
    const Array lines = make_scratch<T>(plan.m * (plan.k + kPad));
    const MatrixProduct<T> packed = with_packed_a(p, lines);
    return multiply_shared(Plan<T>(packed, plan.rounding), packed);
  }
  Array panels;
  if (plan.packs_b) {
    panels = make_scratch<T>(plan.panels() * plan.width() * plan.k);
    constexpr std::int64_t kGrain = 16384;  // elements
    parallel_for(0, plan.panels(), kGrain / (plan.width() * plan.k) + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   pack_panels(plan, p.b, panels.data<T>(), begin, end);
                 });
  }
  const T* packed = plan.packs_b ? panels.data<T>() : nullptr;
  const std::int64_t groups = plan.groups(), step = (plan.panels() - 1) / groups + 1;
  parallel_for(0, plan.blocks() * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    const Array lines = plan.packs_a ? make_scratch<T>(plan.block_rows * (plan.k + kPad)) : Array();
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t row = task / groups * plan.block_rows, first = task % groups * step;
      if (first >= plan.panels()) continue;
      multiply_block(plan, p, packed, plan.packs_a ? lines.data<T>() : nullptr, row,
                     std::min(plan.block_rows, plan.m - row), first,
                     std::min(first + step, plan.panels()));
    }
  });
}

// Computes the products of a batch, each on one thread.
template <class T>
void multiply_each(const Plan<T>& plan, const MatrixProduct<T>& first, const Batch& batch) {
  const auto grain = static_cast<std::int64_t>(kTileGrainWork / first.work()) + 1;
  parallel_for(0, batch.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    const Array panels =
        plan.packs_b ? make_scratch<T>(plan.panels() * plan.width() * plan.k) : Array();
    const Array lines = plan.packs_a ? make_scratch<T>(plan.block_rows * (plan.k + kPad)) : Array();
    T* packed = plan.packs_b ? panels.data<T>() : nullptr;
    for (std::int64_t number = begin; number < end; ++number) {
      const MatrixProduct<T> p = batch.item(first, number);
      if (plan.packs_b) pack_panels(plan, p.b, packed, 0, plan.panels());
      const std::int64_t rows = plan.packs_a ? plan.block_rows : plan.m;
      for (std::int64_t row = 0; row < plan.m; row += rows) {
        multiply_block(plan, p, packed, plan.packs_a ? lines.data<T>() : nullptr, row,
                       std::min(rows, plan.m - row), 0, plan.panels());
      }
    }
  });
}

// Computes the products of a batch. Their depth fits the caches.
template <class T>
void multiply_part(const Plan<T>& plan, const MatrixProduct<T>& first, const Batch& batch) {
  if (batch.count() >= kManyProducts || first.work() < kSharedTileWork)
    return multiply_each(plan, first, batch);
  for (std::int64_t i = 0; i < batch.count(); ++i) {
    multiply_shared(plan, batch.item(first, i));
  }
}

// Computes one product of at most kTinyWork multiplications as one tile, without packing.
template <class T>
void multiply_tiny(const MatrixProduct<T>& product) {
  const auto& [c, a, b, alpha, beta, bias] = product;
  T lines[kTinyWork];
  Tile<T> tile{unsigned_of(c.rows),
               unsigned_of(c.cols),
               unsigned_of(a.cols),
               a.data,
               unsigned_of(a.row_stride),
               unsigned_of(a.col_stride),
               b.data,
               unsigned_of(b.row_stride),
               tile_kernels().of<T>().panel_width,
               c.data,
               unsigned_of(c.row_stride),
               alpha,
               beta,
               bias};
  if (b.col_stride != 1 && b.cols > 1) {
    for (std::int64_t p = 0; p < b.rows; ++p) {
      for (std::int64_t j = 0; j < b.cols; ++j) lines[p * b.cols + j] = b.at(p, j);
    }
    tile.b = lines;
    tile.b_row = tile.n;
  }
  tile_kernels().of<T>().multiply(tile, Rounding::separate);
}

}  // namespace

template <class T>
void multiply_in_tiles(const MatrixProduct<T>& first, const Batch& batch) {
  if (first.work() <= kTinyWork) {
    const auto grain = static_cast<std::int64_t>(kTileGrainWork / std::max(first.work(), 1.0)) + 1;
    return parallel_for(0, batch.count(), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) multiply_tiny(batch.item(first, i));
    });
  }
  const Rounding rounding = rounds_each(first) ? Rounding::separate : Rounding::fused;
  MatrixProduct<T> part = first;
  for (std::int64_t k = 0; k < first.a.cols; k += kTileDepth) {
    part.a.cols = part.b.rows = std::min(kTileDepth, first.a.cols - k);
    part.a.data = &first.a.at(0, k);
    part.b.data = &first.b.at(k, 0);
    multiply_part(Plan<T>(part, rounding), part, batch);
    part.beta = T(1);
    part.bias = nullptr;
  }
}

template <class T>
Array pack_for_tiles(const Matrix<const T>& b) {
  const std::int64_t width = panel_width<T>();
  Array panels = make_scratch<T>((b.cols + width - 1) / width * width * b.rows);
  for (std::int64_t left = 0; left < b.cols; left += width) {
    tile_kernels().of<T>().pack(unsigned_of(b.rows), unsigned_of(std::min(width, b.cols - left)),
                                &b.at(0, left), unsigned_of(b.row_stride),
                                unsigned_of(b.col_stride), panels.data<T>() + left * b.rows);
  }
  return panels;
}

template <class T>
void multiply_packed(const MatrixProduct<T>& product, const Array& panels) {
  const Matrix<T>& c = product.c;
  const Matrix<const T>& a = product.a;
  const std::int64_t width = panel_width<T>();
  constexpr double kTaskWork = 1 << 16;  // about 2 us
  const double panel_work = static_cast<double>(c.rows * a.cols * width);
  const auto grain = static_cast<std::int64_t>(kTaskWork / panel_work) + 1;
  parallel_for(0, (c.cols - 1) / width + 1, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t left = begin * width, right = std::min(end * width, c.cols);
    for (std::int64_t k = 0; k < a.cols; k += kTileDepth) {
      const bool first = k == 0;
      tile_kernels().of<T>().multiply(
          {.m = unsigned_of(c.rows),
           .n = unsigned_of(right - left),
           .k = unsigned_of(std::min(kTileDepth, a.cols - k)),
           .a = &a.at(0, k),
           .a_row = unsigned_of(a.row_stride),
           .a_step = 1,
           .b = panels.data<T>() + left * a.cols + k * width,
           .b_row = unsigned_of(width),
           .b_panel = unsigned_of(width * a.cols),
           .c = &c.at(0, left),
           .c_row = unsigned_of(c.row_stride),
           .alpha = product.alpha,
           .beta = first ? product.beta : T(1),
           .bias = first && product.bias ? product.bias + left : nullptr},
          Rounding::fused);
    }
  });
}

template void multiply_in_tiles(const MatrixProduct<float>&, const Batch&);
template void multiply_in_tiles(const MatrixProduct<double>&, const Batch&);
template Array pack_for_tiles(const Matrix<const float>&);
template Array pack_for_tiles(const Matrix<const double>&);
template void multiply_packed(const MatrixProduct<float>&, const Array&);
template void multiply_packed(const MatrixProduct<double>&, const Array&);

}  // namespace tend::kernels
