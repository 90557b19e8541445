#include <tend/core/kernels/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <tend/core/kernels/loops.h>

namespace tend::kernels {
namespace {

template <class T>
T row_max(const T* a, std::int64_t n) {
  T largest = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < n; ++i)
    largest = a[i] > largest || std::isnan(a[i]) ? a[i] : largest;
  return largest;
}

template <class T>
T precise_exp(T x) {
  return static_cast<T>(std::exp(static_cast<double>(x)));
}

struct Softmax {
  template <class T>
  static void row(T* out, const T* a, const T*, std::int64_t n) {
    const T largest = row_max(a, n);
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += out[i] = precise_exp(a[i] - largest);
    const T factor = 1 / sum;
    for (std::int64_t i = 0; i < n; ++i) out[i] *= factor;
  }
};

struct LogSoftmax {
  template <class T>
  static void row(T* out, const T* a, const T*, std::int64_t n) {
    const T largest = row_max(a, n);
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += precise_exp(a[i] - largest);
    const T log_sum = std::log(sum);
    for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] - largest - log_sum;
  }
};

struct SoftmaxBackward {
  template <class T>
  static void row(T* out, const T* grad, const T* y, std::int64_t n) {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += grad[i] * y[i];
    for (std::int64_t i = 0; i < n; ++i) out[i] = y[i] * (grad[i] - sum);
  }
};

struct LogSoftmaxBackward {
  template <class T>
  static void row(T* out, const T* grad, const T* y, std::int64_t n) {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += grad[i];
    for (std::int64_t i = 0; i < n; ++i) out[i] = grad[i] - precise_exp(y[i]) * sum;
  }
};

// Calls Op::row(out, a, b, n) for each row along `dim`.
template <class Op, class T>
void for_rows(const Array& out, const Array& a, const Array& b, std::int64_t dim) {
  const std::int64_t length = out.rank() == 0 ? 1 : out.shape()[dim];
  if (out.numel() == 0) return;
  const auto stride = [&](const Array& x) { return x.rank() == 0 ? 1 : x.strides()[dim]; };
  const auto head = [&](const Array& x) { return x.rank() == 0 ? x : x.select(dim, 0); };
  const std::int64_t to_step = stride(out), a_step = stride(a), b_step = stride(b);
  const Array out_head = head(out), a_head = head(a), b_head = head(b);
  StridedLoop<3>({&out_head, &a_head, &b_head})
      .run(
          [&](std::int64_t count, const auto& p, const auto& step) {
            std::vector<T> buffer(static_cast<std::size_t>(3 * length));
            T* x = buffer.data();
            T* y = x + length;
            T* z = y + length;
            for (std::int64_t row = 0; row < count; ++row) {
              T* to = reinterpret_cast<T*>(p[0] + row * step[0]);
              const T* from_a = reinterpret_cast<const T*>(p[1] + row * step[1]);
              const T* from_b = reinterpret_cast<const T*>(p[2] + row * step[2]);
              for (std::int64_t i = 0; i < length; ++i) y[i] = from_a[i * a_step];
              for (std::int64_t i = 0; i < length; ++i) z[i] = from_b[i * b_step];
              Op::row(x, y, z, length);
              for (std::int64_t i = 0; i < length; ++i) to[i * to_step] = x[i];
            }
          },
          std::max<std::int64_t>(1, kElementGrain / length));
}

template <class Op>
void run(std::string_view operation, const Array& out, const Array& a, const Array& b,
         std::int64_t dim) {
  dim = wrap_dim(operation, dim, out.rank());
  visit_floating(operation, out.dtype(),
                 [&](auto tag) { for_rows<Op, typename decltype(tag)::type>(out, a, b, dim); });
}

}  // namespace

void softmax(const Array& out, const Array& a, std::int64_t dim) {
  run<Softmax>("softmax", out, a, a, dim);
}
void log_softmax(const Array& out, const Array& a, std::int64_t dim) {
  run<LogSoftmax>("log_softmax", out, a, a, dim);
}
void softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim) {
  run<SoftmaxBackward>("softmax_backward", out, grad, y, dim);
}
void log_softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim) {
  run<LogSoftmaxBackward>("log_softmax_backward", out, grad, y, dim);
}

}  // namespace tend::kernels
