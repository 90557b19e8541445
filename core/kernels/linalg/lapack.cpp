#include <tend/core/kernels/linalg/lapack.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <tend/core/kernels/matmul/blas.h>
#include <tend/core/threads/parallel.h>

// OpenBLAS exports LAPACK's Fortran functions, but its header does not declare them. A Fortran
// compiler passes the length of each string after all other arguments.
extern "C" {
#define TEND_LAPACK(T, gesdd, syevd, geqrf, orgqr, gesv)                                          \
  void gesdd(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u,      \
             const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* iwork,       \
             int* info, std::size_t jobz_length);                                                 \
  void syevd(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w,        \
             T* work, const int* lwork, int* iwork, const int* liwork, int* info,                 \
             std::size_t jobz_length, std::size_t uplo_length);                                   \
  void geqrf(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, \
             int* info);                                                                          \
  void orgqr(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau,        \
             T* work, const int* lwork, int* info);                                               \
  void gesv(const int* n, const int* nrhs, T* a, const int* lda, int* ipiv, T* b, const int* ldb, \
            int* info);
TEND_LAPACK(float, sgesdd_, ssyevd_, sgeqrf_, sorgqr_, sgesv_)
TEND_LAPACK(double, dgesdd_, dsyevd_, dgeqrf_, dorgqr_, dgesv_)
#undef TEND_LAPACK
}

namespace tend::kernels {
namespace {

// LAPACK's functions for one element type.
template <class T>
struct Lapack;

template <>
struct Lapack<float> {
  static constexpr auto kGesdd = sgesdd_;
  static constexpr auto kSyevd = ssyevd_;
  static constexpr auto kGeqrf = sgeqrf_;
  static constexpr auto kOrgqr = sorgqr_;
  static constexpr auto kGesv = sgesv_;
};

template <>
struct Lapack<double> {
  static constexpr auto kGesdd = dgesdd_;
  static constexpr auto kSyevd = dsyevd_;
  static constexpr auto kGeqrf = dgeqrf_;
  static constexpr auto kOrgqr = dorgqr_;
  static constexpr auto kGesv = dgesv_;
};

// LAPACK counts elements with int, including the elements of its workspaces, which are a few times
// as large as the matrix.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;
constexpr int kQuery = -1;  // as a workspace size: LAPACK only returns the size that it needs

int size_of(const Array& matrices, std::int64_t dim) {
  return static_cast<int>(matrices.size(dim));
}

// The distance between columns. LAPACK requires at least 1, even for empty matrices.
int leading(int rows) {
  return std::max(rows, 1);
}

// A workspace of the size that a query returned. The size is a floating number, which may have been
// rounded down.
template <class T>
std::vector<T> workspace(T wanted) {
  const T next = std::nextafter(wanted, std::numeric_limits<T>::infinity());
  return std::vector<T>(static_cast<std::size_t>(next) + 1);
}

std::int64_t matrix_count(const Array& matrices) {
  const Shape& shape = matrices.shape();
  std::int64_t count = 1;
  for (std::int64_t d = 0; d < shape.rank() - 2; ++d) count *= shape[d];
  return count;
}

// Access to the elements of each matrix; the matrices are one after the other in memory.
template <class T>
class Matrices {
 public:
  explicit Matrices(const Array& array)
      : data_(array.data<T>()), size_(array.size(-1) * array.size(-2)) {}
  T* operator[](std::int64_t i) const { return data_ + i * size_; }

 private:
  T* data_;
  std::int64_t size_;
};

// A column-major copy.
Array copy_of(const char* operation, const Array& a) {
  Shape batch = a.shape();
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  const Array copy = column_major(operation, batch, a.size(-2), a.size(-1), a.dtype());
  copy.copy_from(a);
  return copy;
}

template <class T>
void check_finite(const char* operation, const Array& matrices) {
  const std::int64_t size = matrices.size(-1) * matrices.size(-2);
  const T* const data = matrices.data<T>();
  for (std::int64_t i = 0; i < matrices.numel(); ++i) {
    if (std::isfinite(data[i])) continue;
    fail(operation, "matrix ", i / size, " of the batch has a NaN or an infinity");
  }
}

// Calls f(first, last, info) for ranges of the matrices, in parallel. f writes LAPACK's info of
// each matrix, and for_matrices returns it.
template <class F>
std::vector<int> for_matrices(const Array& matrices, F f) {
  const std::int64_t count = matrix_count(matrices);
  std::vector<int> info(static_cast<std::size_t>(count));
  const std::int64_t size = matrices.size(-1) * matrices.size(-2);
  const std::int64_t grain = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(size, 1));
  parallel_for(0, count, grain, [&](std::int64_t first, std::int64_t last) {
    const BlasScope scope;
    f(first, last, info.data());
  });
  return info;
}

void check_info(const char* operation, const std::vector<int>& info, const char* what) {
  for (std::size_t i = 0; i < info.size(); ++i) {
    if (info[i] != 0) fail(operation, "matrix ", i, " of the batch ", what, info[i]);
  }
}

constexpr const char* kNoConvergence = "did not converge: LAPACK's info is ";

void fill_identity(const Array& matrices) {
  matrices.fill(0);
  matrices.diagonal(0, matrices.rank() - 2, matrices.rank() - 1).fill(1);
}

template <class T>
void svd_of(const char* operation, const Array& u, const Array& s, const Array& vh,
            const Array& a) {
  const Array copy = copy_of(operation, a);
  check_finite<T>(operation, copy);
  const int m = size_of(a, -2), n = size_of(a, -1), k = std::min(m, n);
  const int u_rows = m, vh_rows = size_of(vh, -2);
  const char* const job = size_of(u, -1) == m && vh_rows == n ? "A" : "S";
  const Matrices<T> as(copy), us(u), vhs(vh);
  const auto call = [&](std::int64_t i, T* work, int work_size, int* iwork, int* info) {
    Lapack<T>::kGesdd(job, &m, &n, as[i], &m, s.data<T>() + i * k, us[i], &u_rows, vhs[i], &vh_rows,
                      work, &work_size, iwork, info, 1);
  };
  const auto info = for_matrices(a, [&](std::int64_t first, std::int64_t last, int* infos) {
    std::vector<int> iwork(8 * static_cast<std::size_t>(k));
    T wanted = 0;
    call(first, &wanted, kQuery, iwork.data(), &infos[first]);
    std::vector<T> work = workspace(wanted);
    for (std::int64_t i = first; i < last; ++i) {
      call(i, work.data(), static_cast<int>(work.size()), iwork.data(), &infos[i]);
    }
  });
  check_info(operation, info, kNoConvergence);
}

template <class T>
void eigh_of(const char* operation, const Array& values, const Array& vectors, const Array& a,
             bool upper) {
  vectors.copy_from(a);  // LAPACK overwrites the matrix with its eigenvectors
  check_finite<T>(operation, vectors);
  const int n = size_of(a, -1), lead = leading(n);
  const Matrices<T> matrices(vectors);
  const auto call = [&](std::int64_t i, T* work, int work_size, int* iwork, int iwork_size,
                        int* info) {
    Lapack<T>::kSyevd("V", upper ? "U" : "L", &n, matrices[i], &lead, values.data<T>() + i * n,
                      work, &work_size, iwork, &iwork_size, info, 1, 1);
  };
  const auto info = for_matrices(a, [&](std::int64_t first, std::int64_t last, int* infos) {
    T wanted = 0;
    int iwork_wanted = 0;
    call(first, &wanted, kQuery, &iwork_wanted, kQuery, &infos[first]);
    std::vector<T> work = workspace(wanted);
    std::vector<int> iwork(static_cast<std::size_t>(iwork_wanted));
    for (std::int64_t i = first; i < last; ++i) {
      call(i, work.data(), static_cast<int>(work.size()), iwork.data(), iwork_wanted, &infos[i]);
    }
  });
  check_info(operation, info, kNoConvergence);
}

// Copies the upper triangle of a column-major matrix of m rows to r, which has k rows, and fills
// the rest of r with zeros.
template <class T>
void copy_upper(T* r, const T* factors, int m, int k, int n) {
  for (std::int64_t column = 0; column < n; ++column) {
    const std::int64_t filled = std::min<std::int64_t>(k, column + 1);
    std::copy_n(factors + column * m, std::min<std::int64_t>(filled, m), r + column * k);
    std::fill(r + column * k + filled, r + (column + 1) * k, T(0));
  }
}

template <class T>
void qr_of(const char* operation, const Array& q, const Array& r, const Array& a) {
  const Array copy = copy_of(operation, a);
  const int m = size_of(a, -2), n = size_of(a, -1), reflectors = std::min(m, n);
  const int k = size_of(r, -2), lead = leading(m);
  const Matrices<T> factors(copy), rs(r);
  for_matrices(a, [&](std::int64_t first, std::int64_t last, int* infos) {
    std::vector<T> scales(static_cast<std::size_t>(leading(reflectors)));
    T wanted = 0, wanted_for_q = 0;
    Lapack<T>::kGeqrf(&m, &n, factors[first], &lead, scales.data(), &wanted, &kQuery,
                      &infos[first]);
    if (q.defined()) {
      Lapack<T>::kOrgqr(&m, &k, &reflectors, q.data<T>(), &lead, scales.data(), &wanted_for_q,
                        &kQuery, &infos[first]);
    }
    std::vector<T> work = workspace(std::max(wanted, wanted_for_q));
    const int size = static_cast<int>(work.size());
    for (std::int64_t i = first; i < last; ++i) {
      Lapack<T>::kGeqrf(&m, &n, factors[i], &lead, scales.data(), work.data(), &size, &infos[i]);
      copy_upper(rs[i], factors[i], m, k, n);
      if (!q.defined()) continue;
      T* const columns = Matrices<T>(q)[i];
      std::copy_n(factors[i], std::int64_t{m} * reflectors, columns);
      Lapack<T>::kOrgqr(&m, &k, &reflectors, columns, &lead, scales.data(), work.data(), &size,
                        &infos[i]);
    }
  });
}

template <class T>
void solve_of(const char* operation, const Array& x, const Array& a, const Array& b) {
  const Array copy = copy_of(operation, a);
  x.copy_from(b);  // LAPACK overwrites the right side with the solution
  const int n = size_of(a, -1), columns = size_of(x, -1), lead = leading(n);
  const Matrices<T> factors(copy), xs(x);
  const auto info = for_matrices(a, [&](std::int64_t first, std::int64_t last, int* infos) {
    std::vector<int> pivots(static_cast<std::size_t>(n));
    for (std::int64_t i = first; i < last; ++i) {
      Lapack<T>::kGesv(&n, &columns, factors[i], &lead, pivots.data(), xs[i], &lead, &infos[i]);
    }
  });
  check_info(operation, info, "is singular: LAPACK's info is ");
}

}  // namespace

Array column_major(const char* operation, const Shape& batch, std::int64_t rows, std::int64_t cols,
                   DType dtype) {
  Shape shape = batch;
  shape.push_back(cols);
  shape.push_back(rows);
  if (rows > 0 && cols > kMaxElements / rows) {
    fail<ShapeError>(operation, "a matrix (", rows, ", ", cols, ") has more than 2^28 elements");
  }
  return Array::empty(shape, dtype).transpose(batch.rank(), batch.rank() + 1);
}

void svd(const char* operation, const Array& u, const Array& s, const Array& vh, const Array& a) {
  if (s.numel() == 0) {
    fill_identity(u);
    fill_identity(vh);
    return;
  }
  visit_floating(operation, a.dtype(),
                 [&]<class T>(TypeTag<T>) { svd_of<T>(operation, u, s, vh, a); });
}

void eigh(const char* operation, const Array& values, const Array& vectors, const Array& a,
          bool upper) {
  if (vectors.numel() == 0) return;
  visit_floating(operation, a.dtype(),
                 [&]<class T>(TypeTag<T>) { eigh_of<T>(operation, values, vectors, a, upper); });
}

void qr(const char* operation, const Array& q, const Array& r, const Array& a) {
  if (r.numel() == 0 && (!q.defined() || q.numel() == 0)) return;
  visit_floating(operation, a.dtype(), [&]<class T>(TypeTag<T>) { qr_of<T>(operation, q, r, a); });
}

void solve(const char* operation, const Array& x, const Array& a, const Array& b) {
  if (x.numel() == 0) return;
  visit_floating(operation, a.dtype(),
                 [&]<class T>(TypeTag<T>) { solve_of<T>(operation, x, a, b); });
}

}  // namespace tend::kernels
