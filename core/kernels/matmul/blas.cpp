#include <tend/core/kernels/matmul/blas.h>

#include <cblas.h>
#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <tend/core/kernels/matmul/tiles.h>

namespace tend::kernels {
namespace {

// The width of the vectors in OpenBLAS's kernels, in bytes. Core types that are not listed, such as
// those of later versions, count as the narrowest. OpenBLAS then never counts as faster than tiles.
std::size_t blas_vector_bytes() {
  static const std::size_t bytes = []() -> std::size_t {
    const auto core_is_one_of = [](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(), [](const char* name) {
        return strcasecmp(name, openblas_get_corename()) == 0;
      });
    };
    if (core_is_one_of({"SkylakeX", "Cooperlake", "SapphireRapids"})) return 64;
    return core_is_one_of({"Haswell", "Zen", "Excavator"}) ? 32 : 16;
  }();
  return bytes;
}

// The OpenMP library of an OpenBLAS that was built with OpenMP. Such an OpenBLAS reads its number
// of threads from the calling thread's OpenMP setting. Since version 0.3.29,
// openblas_set_num_threads does not change this setting.
class OpenMP {
 public:
  OpenMP() {
    if (openblas_get_parallel() != OPENBLAS_OPENMP) return;
    get_ = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    set_ = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  }
  int threads() const { return get_ != nullptr ? get_() : 1; }
  void set_threads(int count) const {
    if (set_ != nullptr) set_(count);
  }

 private:
  int (*get_)() = nullptr;
  void (*set_)(int) = nullptr;
};

const OpenMP& openmp() {
  static const OpenMP found;
  return found;
}

// How BLAS reads a matrix: row-major or as the transpose of a row-major matrix. The rows of the
// row-major matrix are `leading` elements apart; 0 means that BLAS cannot read the matrix.
struct Layout {
  CBLAS_TRANSPOSE op = CblasNoTrans;
  blasint leading = 0;
};

template <class T>
Layout layout(const Matrix<T>& x) {
  const auto leading = [](std::int64_t lines, std::int64_t width, std::int64_t stride) {
    const std::int64_t min_step = std::max<std::int64_t>(width, 1);
    const std::int64_t step = lines == 1 ? min_step : stride;
    return step >= min_step && step <= kBlasLimit ? static_cast<blasint>(step) : 0;
  };
  Layout as_it_is;
  if (x.col_stride == 1 || x.cols == 1) {
    as_it_is = {CblasNoTrans, leading(x.rows, x.cols, x.row_stride)};
  }
  if (as_it_is.leading > 0 || (x.row_stride != 1 && x.rows != 1)) return as_it_is;
  return {CblasTrans, leading(x.cols, x.rows, x.col_stride)};
}

blasint to_blas(std::int64_t size) {
  return static_cast<blasint>(size);
}

// BLAS's functions for one element type.
template <class T>
struct Blas;

template <>
struct Blas<float> {
  static constexpr auto kGemm = cblas_sgemm;
  static constexpr auto kGemv = cblas_sgemv;
  static constexpr auto kDot = cblas_sdot;
};

template <>
struct Blas<double> {
  static constexpr auto kGemm = cblas_dgemm;
  static constexpr auto kGemv = cblas_dgemv;
  static constexpr auto kDot = cblas_ddot;
};

// Computes c = alpha * a @ b + beta * c. The depth is within BLAS's limit; c is row-major or has
// one column.
template <class T>
void call_blas(const MatrixProduct<T>& product) {
  const auto& [c, a, b, alpha, beta, bias] = product;
  const blasint m = to_blas(c.rows), n = to_blas(c.cols), k = to_blas(a.cols);
  const Layout left = layout(a);
  const auto step = [](std::int64_t stride) { return to_blas(std::max<std::int64_t>(stride, 1)); };
  if (n > 1) {
    const Layout right = layout(b);
    Blas<T>::kGemm(CblasRowMajor, left.op, right.op, m, n, k, alpha, a.data, left.leading, b.data,
                   right.leading, beta, c.data, layout(c).leading);
  } else if (m > 1) {
    // Some versions of gemv multiply old values by a beta of 0, so that NaN stays NaN. Therefore c
    // is set to 0, and gemv gets a beta of 1.
    for (blasint i = 0; beta == T(0) && i < m; ++i) c.at(i, 0) = T(0);
    const bool flat = left.op == CblasNoTrans;
    Blas<T>::kGemv(CblasRowMajor, left.op, flat ? m : k, flat ? k : m, alpha, a.data, left.leading,
                   b.data, step(b.row_stride), beta == T(0) ? T(1) : beta, c.data,
                   step(c.row_stride));
  } else {
    const T sum = alpha * Blas<T>::kDot(k, a.data, step(a.col_stride), b.data, step(b.row_stride));
    *c.data = beta == T(0) ? sum : sum + beta * *c.data;
  }
}

}  // namespace

std::string blas_config() {
  return openblas_get_config();
}

std::string blas_core() {
  return openblas_get_corename();
}

bool blas_calls_may_overlap() {
  static const bool may =
      openblas_get_parallel() != OPENBLAS_SEQUENTIAL ||
      std::string_view(openblas_get_config()).find("USE_LOCKING") != std::string_view::npos;
  return may;
}

BlasScope::BlasScope() {
  static std::mutex the_only_call;
  if (!blas_calls_may_overlap()) turn_ = std::unique_lock(the_only_call);
  openmp_threads_ = openmp().threads();
  openmp().set_threads(1);
  thread_local bool is_set = false;
  if (is_set && openblas_get_num_threads() == 1) return;
  openblas_set_num_threads(1);
  is_set = true;
}

BlasScope::~BlasScope() {
  openmp().set_threads(openmp_threads_);
}

bool blas_fits_processor() {
  return blas_vector_bytes() >= tile_kernels().of<float>().vector_bytes;
}

template <class T>
BlasLayout blas_layout(const Matrix<T>& x) {
  const auto [op, leading] = layout(x);
  if (leading == 0) return BlasLayout::none;
  return op == CblasTrans ? BlasLayout::columns : BlasLayout::rows;
}

template <class T>
void multiply_blas(const MatrixProduct<T>& product) {
  const BlasScope scope;
  MatrixProduct<T> part = product;
  for (std::int64_t k = 0; k < product.a.cols; k += kBlasLimit) {
    part.a.cols = part.b.rows = std::min(kBlasLimit, product.a.cols - k);
    part.a.data = &product.a.at(0, k);
    part.b.data = &product.b.at(k, 0);
    call_blas(part);
    part.beta = T(1);
  }
}

template BlasLayout blas_layout(const Matrix<float>&);
template BlasLayout blas_layout(const Matrix<double>&);
template BlasLayout blas_layout(const Matrix<const float>&);
template BlasLayout blas_layout(const Matrix<const double>&);
template void multiply_blas(const MatrixProduct<float>&);
template void multiply_blas(const MatrixProduct<double>&);

}  // namespace tend::kernels
