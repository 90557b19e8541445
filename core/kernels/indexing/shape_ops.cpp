#include <tend/core/kernels/indexing/shape_ops.h>

#include <algorithm>

#include <tend/core/base/error.h>
#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/threads/parallel.h>

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

// Joins row-major arrays of out's dtype, row by row of the output. A row is all elements with the
// same indices in the dimensions before `dim`.
void cat_rows(const Array& out, std::span<const Array> arrays, std::int64_t dim) {
  const std::int64_t item = item_size(out.dtype());
  std::int64_t rows = 1;
  for (std::int64_t d = 0; d < dim; ++d) rows *= out.size(d);
  auto* const to = static_cast<std::byte*>(out.raw());
  const std::int64_t row = out.numel() / rows;
  parallel_for(0, rows, kStreamGrain / row + 1, [&](std::int64_t begin, std::int64_t end) {
    std::byte* at = to + begin * row * item;
    for (std::int64_t r = begin; r < end; ++r) {
      for (const Array& a : arrays) {
        const std::int64_t bytes = a.numel() / rows * item;
        at = std::copy_n(static_cast<const std::byte*>(a.raw()) + r * bytes, bytes, at);
      }
    }
  });
}

}  // namespace

void cat(const Array& out, std::span<const Array> arrays, std::int64_t dim) {
  if (out.numel() == 0) return;
  dim = dim < 0 ? dim + out.rank() : dim;
  const bool alike = std::all_of(arrays.begin(), arrays.end(), [&](const Array& a) {
    return a.dtype() == out.dtype() && a.is_contiguous();
  });
  // cat_rows copies each row on one thread, with one call for each piece. So rows must not be too
  // long, and pieces not too short.
  constexpr std::int64_t kLongPiece = 16;
  const std::int64_t row = out.size(dim) * out.strides()[dim];
  const auto pieces = static_cast<std::int64_t>(arrays.size());
  if (alike && out.is_contiguous() && row <= kStreamGrain && row >= pieces * kLongPiece)
    return cat_rows(out, arrays, dim);
  std::int64_t at = 0;
  for (const Array& a : arrays) {
    if (a.rank() == 1 && a.numel() == 0) continue;
    copy(out.narrow(dim, at, a.size(dim)), a);
    at += a.size(dim);
  }
}

void flip(const Array& out, const Array& a, const Shape& dims) {
  std::uint64_t flipped = 0;
  if (out.rank() > 64)
    fail<ShapeError>("flip", "accepts at most 64 dimensions, got shape ", out.shape());
  for (const std::int64_t d : dims) flipped |= std::uint64_t{1} << d;
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const ReverseRun reverse = reverse_run_of(sizeof(T));
    StridedLoop<2>({&out, &a}, flipped)
        .run([reverse](std::int64_t count, const auto& p, const auto& step) {
          constexpr std::int64_t kNext = sizeof(T);
          auto* to = reinterpret_cast<T*>(p[0]);
          const auto* from = reinterpret_cast<const T*>(p[1]);
          if (step[0] == kNext && step[1] == kNext) {
            std::copy_n(from, count, to);
          } else if (step[0] == kNext && step[1] == -kNext) {
            reverse(count, p[0], p[1]);
          } else {
            for (std::int64_t i = 0; i < count; ++i) {
              *reinterpret_cast<T*>(p[0] + i * step[0]) =
                  *reinterpret_cast<const T*>(p[1] + i * step[1]);
            }
          }
        });
  });
}

void arange(const Array& out, const Scalar& start, const Scalar& step) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      fail<DTypeError>("arange", "the dtype must not be bool");
    } else if constexpr (std::is_integral_v<T>) {
      const auto first = static_cast<std::uint64_t>(start.to<T>());  // unsigned, so it wraps around
      const auto pace = static_cast<std::uint64_t>(step.to<T>());
      generate<T>(out, [=](std::int64_t i) {
        return static_cast<T>(first + static_cast<std::uint64_t>(i) * pace);
      });
    } else {
      const double first = start.to<double>(), pace = step.to<double>();
      generate<T>(out, [=](std::int64_t i) {
        return static_cast<T>(first + static_cast<double>(i) * pace);
      });
    }
  });
}

void linspace(const Array& out, const Scalar& start, const Scalar& end) {
  visit_floating("linspace", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t last = out.numel() - 1;
    const double first = start.to<double>(), final = end.to<double>();
    const double step = last > 0 ? (final - first) / static_cast<double>(last) : 0;
    generate<T>(out, [=](std::int64_t i) {
      const bool from_end = last > 0 && i > last / 2;
      return static_cast<T>(from_end ? final - static_cast<double>(last - i) * step
                                     : first + static_cast<double>(i) * step);
    });
  });
}

void eye(const Array& out) {
  fill(out, 0);
  fill(out.diagonal(), 1);
}

}  // namespace tend::kernels
