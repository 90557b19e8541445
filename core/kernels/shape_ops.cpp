#include <tend/core/kernels/shape_ops.h>

#include <tend/core/kernels/copy.h>
#include <tend/core/kernels/loops.h>

namespace tend::kernels {
namespace {

// out[i] = f(i) for a 1-d array of T.
template <class T, class F>
void generate(const Array& out, F f) {
  T* to = out.data<T>();
  const std::int64_t step = out.strides()[0];
  parallel_for(0, out.numel(), kElementGrain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i * step] = f(i);
  });
}

}  // namespace

void cat(const Array& out, std::span<const Array> arrays, std::int64_t dim) {
  std::int64_t at = 0;
  for (const Array& a : arrays) {
    if (a.rank() == 1 && a.numel() == 0) continue;
    copy(out.narrow(dim, at, a.size(dim)), a);
    at += a.size(dim);
  }
}

void arange(const Array& out, const Scalar& start, const Scalar& step) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      fail<DTypeError>("arange", "has no bool form");
    } else {
      using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;
      const auto first = start.to<Wide>(), pace = step.to<Wide>();
      generate<T>(
          out, [=](std::int64_t i) { return static_cast<T>(first + static_cast<Wide>(i) * pace); });
    }
  });
}

void linspace(const Array& out, const Scalar& start, const Scalar& end) {
  visit_floating("linspace", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t count = out.numel();
    const T first = start.to<T>(), last = end.to<T>();
    const T step = count > 1 ? (last - first) / static_cast<T>(count - 1) : T(0);
    generate<T>(out, [=](std::int64_t i) {
      return i < count / 2 || count == 1 ? first + step * static_cast<T>(i)
                                         : last - step * static_cast<T>(count - 1 - i);
    });
  });
}

void eye(const Array& out) {
  fill(out, 0);
  fill(out.diagonal(), 1);
}

}  // namespace tend::kernels
