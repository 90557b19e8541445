#include <tend/core/kernels/matmul/gemm.h>

#include <algorithm>
#include <cmath>

#include <tend/core/kernels/matmul/blas.h>
#include <tend/core/kernels/matmul/few_rows.h>
#include <tend/core/kernels/matmul/gemm_product.h>
#include <tend/core/kernels/matmul/gemm_tiles.h>
#include <tend/core/kernels/matmul/matmul_path.h>
#include <tend/core/kernels/matmul/packed_weights.h>
#include <tend/core/kernels/matmul/tiles.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

// Work is counted in multiplications. A large product is cut into blocks, so that more than two
// cores share it. There are few blocks, because BLAS packs the same panels again for each block:
// for kLargeWork or more, four blocks take 1 % longer than two on one core, and eight take 2 %
// longer.
constexpr double kBlockWork = 0x1p25, kLargeWork = 0x1p30;
// A single product of at least this size is cut into two: sharing it gains more than the cut costs.
constexpr double kSharedWork = 4e6;
// Items of a batch are not cut, unless they are larger than this.
constexpr double kItemWork = 0x1p31;
// Products with a vector are bound by memory, not by arithmetic.
constexpr double kVectorWork = 250e3;
// Items of a batch are handed to the threads in chunks of this size.
constexpr double kGrainWork = 500e3;

// Adds factor * row[j * step] to each sums[j]. Not inlined: once GCC 12 knows the bound on `width`,
// it vectorises the strided loop and then warns of an uninitialised element.
template <class T>
[[gnu::noinline]] void add_scaled(T* sums, T factor, const T* row, std::int64_t step,
                                  std::int64_t width) {
  if (step == 1) {
    for (std::int64_t j = 0; j < width; ++j) sums[j] += factor * row[j];
  } else {
    for (std::int64_t j = 0; j < width; ++j) sums[j] += factor * row[j * step];
  }
}

// Every sum starts at zero and runs over k in order. Each product and each sum is rounded
// separately.
template <class T>
void multiply_plain(const MatrixProduct<T>& product) {
  const auto& [c, a, b, alpha, beta, bias] = product;
  constexpr std::int64_t kWidth = 64;
  T sums[kWidth];
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t left = 0; left < c.cols; left += kWidth) {
      const std::int64_t width = std::min(kWidth, c.cols - left);
      std::fill_n(sums, width, T(0));
      for (std::int64_t k = 0; k < a.cols; ++k) {
        add_scaled(sums, a.at(i, k), &b.at(k, left), b.col_stride, width);
      }
      for (std::int64_t j = 0; j < width; ++j) {
        T& to = c.at(i, left + j);
        to = alpha * sums[j] + (beta == T(0) ? T(0) : beta * to);
      }
    }
  }
}

// True if the inner loop is faster over the rows of c than over its columns. The sums are the same.
template <class T>
bool prefers_transposed(const MatrixProduct<T>& product) {
  const bool unit = product.b.col_stride == 1;
  if (unit != (product.a.row_stride == 1)) return !unit;
  return product.c.rows > product.c.cols;
}

// The height and width of the blocks of c that are computed separately.
struct Block {
  std::int64_t rows, cols;
};

// How often a product is halved.
int halvings(double work, std::int64_t items) {
  if (work < kSharedWork || (items > 1 && work <= kItemWork)) return 0;
  return std::ilogb(std::clamp(work / kBlockWork, 2.0, work < kLargeWork ? 4.0 : 8.0));
}

template <class T>
Block cut(const MatrixProduct<T>& product, std::int64_t items) {
  const auto part = [](std::int64_t size, std::int64_t count) {
    constexpr std::int64_t kPanel = 16;  // the height of the kernels' panels
    const std::int64_t panels = ((size - 1) / count / kPanel + 1) * kPanel;
    return std::min({size, panels, kBlasLimit});
  };
  Block block = {std::min(product.c.rows, kBlasLimit), std::min(product.c.cols, kBlasLimit)};
  if (product.c.cols == 1) {
    const double parts = std::max(1.0, std::ceil(product.work() / kVectorWork));
    return {part(block.rows, static_cast<std::int64_t>(std::min(parts, 0x1p53))), 1};
  }
  for (int i = halvings(product.work(), items); i > 0; --i) {
    std::int64_t& longer = block.rows >= block.cols ? block.rows : block.cols;
    longer = part(longer, 2);
  }
  return block;
}

// Calls f with every block of every item, in parallel.
template <class T, class F>
void for_each_block(const MatrixProduct<T>& first, const Batch& batch, bool transposed, F f) {
  const Block block = cut(transposed ? first.transposed() : first, batch.count());
  const Matrix<T> c = transposed ? first.c.transposed() : first.c;
  const std::int64_t down = (c.rows - 1) / block.rows + 1, across = (c.cols - 1) / block.cols + 1;
  const double work = first.work() / static_cast<double>(down * across);
  const auto grain = static_cast<std::int64_t>(std::min(kGrainWork / std::max(work, 1.0), 1e9)) + 1;
  const std::int64_t tasks = batch.count() * down * across;
  parallel_for(0, tasks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const MatrixProduct<T> item = batch.item(first, task / (down * across));
      const std::int64_t row = task % (down * across) / across * block.rows;
      const std::int64_t col = task % across * block.cols;
      f((transposed ? item.transposed() : item)
            .block(row, std::min(block.rows, c.rows - row), col,
                   std::min(block.cols, c.cols - col)));
    }
  });
}

// A copy that BLAS can read. Batch dimensions of stride 0 keep that stride.
Array dense(const Array& x) {
  Array once = x;
  for (std::int64_t d = 0; d < x.rank() - 2; ++d) {
    if (x.strides()[d] == 0 && x.shape()[d] > 1) once = once.narrow(d, 0, 1);
  }
  if (once.is_contiguous()) {
    fail<ShapeError>("matmul", "a row of ", x.shape(), " has more than ", kBlasLimit, " elements");
  }
  return once.contiguous().expand(x.shape());
}

template <class T>
bool has_unit_stride(const Matrix<T>& x) {
  return x.cols == 1 || x.rows == 1 || x.col_stride == 1 || x.row_stride == 1;
}

// True if multiply_in_tiles can read and write the layouts.
template <class T>
bool fits_tiles(const MatrixProduct<T>& product) {
  const bool rows = product.c.cols == 1 || product.c.col_stride == 1;
  if (rows && product.work() <= kTinyWork) return true;
  return rows && has_unit_stride(product.a) && has_unit_stride(product.b);
}

// True if multiply_few_rows computes the product. Packing b costs more than it gains for so few
// rows.
template <class T>
bool fits_few_rows(const MatrixProduct<T>& product) {
  const bool has_rows = product.a.col_stride == 1 || product.a.cols == 1;
  return product.c.rows < kFewRows && product.c.cols > 1 && has_rows && !rounds_each(product) &&
         (product.b.col_stride != 1 || product.c.rows == 1);
}

// True if OpenBLAS computes the product faster than tiles do. This function is called only for
// gradients of weights, whose left matrix is transposed; k is the number of tokens. The numbers are
// the time of OpenBLAS 0.3.21 divided by the time of tiles, on one thread, best of many runs:
//   AVX-512, k from 1024 to 8192, at least 384 rows:
//     float32, 256 to 512 columns: 0.91 to 1.04 (three of 24 are above 1.03)
//     float64, 384 and 512 columns: 0.87 to 1.06
//     other numbers of columns, or smaller k: 1.02 to 1.4
//   AVX2, at least 2^24 multiplications: 0.74 to 1.00 in float32, 0.63 to 0.94 in float64
//   AVX2, smaller products: 1.03 to 1.56
// OpenBLAS's kernels for an older processor take about twice as long.
template <class T>
bool blas_is_faster(const MatrixProduct<T>& product) {
  constexpr std::int64_t kColumns = sizeof(T) == 4 ? 256 : 384;
  const std::int64_t m = product.c.rows, n = product.c.cols, k = product.a.cols;
  if (!blas_fits_processor()) return false;
  switch (tile_kernels().of<T>().vector_bytes) {
    case 64: return k >= 1024 && m >= 384 && n >= kColumns && n <= 512;
    case 32: return product.work() >= 0x1p24;
    default: return false;
  }
}

// The ways to multiply floating matrices.
enum class Way { tiles, few_rows, blas };

// Selects how to multiply products of this shape and layout. BLAS is also selected if tend's own
// kernels cannot read or write the layout.
template <class T>
Way way_of(const MatrixProduct<T>& product, RowBits rows) {
  const MatmulPath path = matmul_path();
  if (path == MatmulPath::blas || !fits_tiles(product)) return Way::blas;
  if (path == MatmulPath::automatic && blas_calls_may_overlap()) {
    constexpr double kColumnWork = 1024;  // a single column leaves most of the registers unused
    const bool is_column = product.c.cols == 1;
    if (is_column && product.work() > kColumnWork) return Way::blas;
    if (!is_column && rows == RowBits::free && blas_is_faster(product)) return Way::blas;
  }
  return fits_few_rows(product) ? Way::few_rows : Way::tiles;
}

// Returns false if way_of selects BLAS. Otherwise multiplies with tend's own kernels and returns
// true.
template <class T>
bool multiply_without_blas(const MatrixProduct<T>& first, const Batch& batch, RowBits rows) {
  const Way way = way_of(first, rows);
  if (way == Way::few_rows) multiply_few_rows(first, batch);
  if (way == Way::tiles) multiply_in_tiles(first, batch);
  return way != Way::blas;
}

template <class T>
void matmul_typed(const Array& out, const Array& a, const Array& b, const Scalar& alpha,
                  const Scalar& beta, RowBits rows) {
  MatrixProduct<T> first = first_product<T>(out, a, b, alpha, beta);
  if (out.numel() == 0) return;
  if (first.a.cols == 0) first.alpha = T(0);  // an empty sum is 0, even times infinity
  Batch batch(out, a, b);
  batch.flatten_rows(first);
  if constexpr (std::is_integral_v<T>) {
    for_each_block(first, batch, prefers_transposed(first), multiply_plain<T>);
  } else {
    const bool turned = first.c.col_stride != 1 && first.c.cols > 1 && first.c.row_stride == 1;
    if (turned && a.rank() > 1 && b.rank() > 1) {
      const auto turn = [](const Array& x) { return x.transpose(-2, -1); };
      return matmul_typed<T>(turn(out), turn(b), turn(a), alpha, beta, rows);
    }
    if (first.a.cols == 0) return for_each_block(first, batch, false, multiply_plain<T>);
    if (multiply_without_blas(first, batch, rows)) return;
    if (blas_layout(first.a) == BlasLayout::none)
      return matmul_typed<T>(out, dense(a), b, alpha, beta, rows);
    if (blas_layout(first.b) == BlasLayout::none)
      return matmul_typed<T>(out, a, dense(b), alpha, beta, rows);
    const BlasLayout to = blas_layout(first.c);
    if (to == BlasLayout::none || matmul_path() == MatmulPath::tiles) {
      const Array copy = dense(out);
      matmul_typed<T>(copy, a, b, alpha, beta, rows);
      out.copy_from(copy);
      return;
    }
    const bool row = first.c.rows == 1;
    const bool column_major = to == BlasLayout::columns && first.c.cols > 1;
    for_each_block(first, batch, row || column_major, multiply_blas<T>);
  }
}

}  // namespace

Shape matmul_shape(std::string_view operation, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) {
    fail<ShapeError>(operation, a, " x ", b, ": both need at least one dimension");
  }
  const std::int64_t b_dim = b.rank() > 1 ? -2 : -1;
  const std::int64_t depth = b[b.rank() + b_dim];
  if (a.back() != depth) {
    fail<ShapeError>(operation, a, " x ", b, ": dimension -1 of the first must equal dimension ",
                     b_dim, " of the second, but they are ", a.back(), " and ", depth);
  }
  const std::int64_t rank = std::max(a.rank(), b.rank());
  Shape out;
  for (std::int64_t d = -rank; d < -2; ++d) {
    const std::int64_t size_a = -d <= a.rank() ? a[a.rank() + d] : 1;
    const std::int64_t size_b = -d <= b.rank() ? b[b.rank() + d] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      fail<ShapeError>(operation, a, " x ", b, ": the sizes of batch dimension ", d,
                       " must be equal or 1, but are ", size_a, " and ", size_b);
    }
    out.push_back(size_a == 1 ? size_b : size_a);
  }
  if (a.rank() > 1) out.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) out.push_back(b.back());
  return out;
}

void matmul(const Array& out, const Array& a, const Array& b, const Scalar& alpha,
            const Scalar& beta, RowBits rows) {
  if (a.dtype() != b.dtype() || a.dtype() != out.dtype() || a.dtype() == boolean) {
    fail<DTypeError>("matmul", a.dtype(), " x ", b.dtype(), " into ", out.dtype(),
                     ": all must have one dtype, and not bool");
  }
  count_products(out.numel(), a.size(-1));
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      matmul_typed<T>(out, a, b, alpha, beta, rows);
    } else {  // int64 wraps around, as in PyTorch
      matmul_typed<std::uint64_t>(out, a, b, alpha, beta, rows);
    }
  });
}

namespace {

// True if the product of a Linear layer is faster with a packed weight, and has so few rows that
// packing the weight only for this product would not pay.
template <class T>
bool suits_packed(const MatrixProduct<T>& product) {
  constexpr std::int64_t kMostRows = 48, kLeastWeights = 4096;
  return product.c.rows <= kMostRows && product.b.rows * product.b.cols >= kLeastWeights &&
         product.c.cols > 1 && product.a.col_stride == 1 && has_unit_stride(product.b) &&
         matmul_path() != MatmulPath::blas;
}

// Computes the product of a Linear layer with the packed weights in use (PackedWeights). Returns
// false if there are no packed weights for it.
template <class T>
bool multiply_packed_weight(const MatrixProduct<T>& product, const Array& weight) {
  PackedWeights* const weights = PackedWeights::in_use();
  if (weights == nullptr || !suits_packed(product)) return false;
  const Array panels = weights->panels(weight);
  if (panels.defined()) multiply_packed(product, panels);
  return panels.defined();
}

}  // namespace

void linear(const Array& out, const Array& x, const Array& weight, const Array& bias) {
  const Array columns = weight.transpose(0, 1);
  const bool has_bias = bias.defined();
  const bool adds_row =
      !has_bias || (bias.rank() == 1 && bias.numel() == out.shape().back() && bias.is_contiguous());
  if (adds_row && out.numel() > 0 && is_floating(out.dtype())) {
    const bool done = visit_floating("linear", out.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      MatrixProduct<T> first = first_product<T>(out, x, columns, 1, 0);
      Batch batch(out, x, columns);
      batch.flatten_rows(first);
      first.bias = has_bias ? bias.data<T>() : nullptr;
      if (batch.count() == 1 && multiply_packed_weight(first, weight)) return true;
      return has_bias && multiply_without_blas(first, batch, RowBits::same);
    });
    if (done) return count_products(out.numel(), x.size(-1));  // otherwise matmul counts them
  }
  if (!has_bias) return matmul(out, x, columns);
  if (out.numel() == 0) return;
  out.copy_from(bias);
  matmul(out, x, columns, 1, 1);
}

}  // namespace tend::kernels
