#include <tend/core/gemm.h>

#include <algorithm>

namespace tend::kernels {
namespace {

// A vector as the matrix it stands for.
Array as_matrix(const Array& a, bool left) {
  return a.rank() == 1 ? a.unsqueeze(left ? 0 : 1) : a;
}

template <class T>
void multiply(const Array& out, const Array& a, const Array& b, T alpha, T beta) {
  const std::int64_t m = out.size(0), n = out.size(1), k = a.size(1);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += a.data<T>()[i * a.strides()[0] + p * a.strides()[1]] *
               b.data<T>()[p * b.strides()[0] + j * b.strides()[1]];
      }
      T& to = out.data<T>()[i * out.strides()[0] + j * out.strides()[1]];
      to = beta == T(0) ? alpha * sum : alpha * sum + beta * to;
    }
  }
}

template <class T>
void multiply_batch(const Array& out, const Array& a, const Array& b, T alpha, T beta) {
  if (out.rank() == 2) return multiply<T>(out, a, b, alpha, beta);
  for (std::int64_t i = 0; i < out.size(0); ++i)
    multiply_batch<T>(out.select(0, i), a.select(0, i), b.select(0, i), alpha, beta);
}

}  // namespace

Shape matmul_shape(std::string_view operation, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) {
    fail<ShapeError>(operation, a, " x ", b, ": both need at least one dimension");
  }
  const std::int64_t rows = a.rank() > 1 ? a[a.rank() - 2] : 1;
  const std::int64_t b_dim = b.rank() > 1 ? -2 : -1;
  const std::int64_t depth = b[b.rank() + b_dim];
  if (a.back() != depth) {
    fail<ShapeError>(operation, a, " x ", b, ": dimension -1 of the first is ", a.back(),
                     ", dimension ", b_dim, " of the second is ", depth);
  }
  const auto batch = [](const Shape& s) {
    return Shape(
        std::span(s.begin(), static_cast<std::size_t>(std::max<std::int64_t>(0, s.rank() - 2))));
  };
  Shape out = broadcast_shapes(operation, batch(a), batch(b));
  if (a.rank() > 1) out.push_back(rows);
  if (b.rank() > 1) out.push_back(b.back());
  return out;
}

void matmul(const Array& out, const Array& a, const Array& b, double alpha, double beta) {
  Array c = out;
  if (a.rank() == 1) c = c.unsqueeze(b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) c = c.unsqueeze(-1);
  const Array left = as_matrix(a, true), right = as_matrix(b, false);
  const auto expand = [&](const Array& x) {
    Shape shape(std::span(c.shape().begin(), static_cast<std::size_t>(c.rank() - 2)));
    shape.push_back(x.size(-2));
    shape.push_back(x.size(-1));
    return x.expand(shape);
  };
  if (a.dtype() != b.dtype() || a.dtype() != out.dtype() || a.dtype() == boolean) {
    fail<DTypeError>("matmul", a.dtype(), " x ", b.dtype(), " into ", out.dtype());
  }
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      multiply_batch<T>(c, expand(left), expand(right), static_cast<T>(alpha),
                        static_cast<T>(beta));
    }
  });
}

}  // namespace tend::kernels
