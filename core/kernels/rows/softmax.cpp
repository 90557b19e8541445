#include <tend/core/kernels/rows/softmax.h>

#include <algorithm>
#include <cmath>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/rows/softmax_loops.h>

namespace tend::kernels {
namespace {

using RowLoop = StridedLoop<3>;

// Computes contiguous rows of fewer than 16 elements each, without gaps between them. The
// exponentials of several rows are computed together. Everything else is computed row by row, from
// left to right.
template <class T>
class ShortRows {
 public:
  ShortRows(SoftmaxKind kind, std::int64_t n) : kind_(kind), n_(n) {}

  void compute(std::int64_t count, T* out, const T* a, const T* b) {
    const std::int64_t max_count = kRoom / n_;
    for (std::int64_t r = 0; r < count; r += max_count)
      compute_block(std::min(max_count, count - r), out + r * n_, a + r * n_, b + r * n_);
  }

 private:
  void compute_block(std::int64_t count, T* out, const T* a, const T* b) {
    switch (kind_) {
      case SoftmaxKind::softmax:
        subtract_max(count, room_, a);
        precise_exp(rounded_up(count * n_), room_);
        return for_each(count, out, room_, room_, [](std::int64_t n, T* y, const T* e, const T*) {
          const T factor = 1 / sum(n, e);
          for (std::int64_t i = 0; i < n; ++i) y[i] = e[i] * factor;
        });
      case SoftmaxKind::log_softmax:
        subtract_max(count, out, a);
        std::copy_n(out, count * n_, room_);
        precise_exp(rounded_up(count * n_), room_);
        return for_each(count, out, room_, room_, [](std::int64_t n, T* y, const T* e, const T*) {
          const T log_sum = std::log(sum(n, e));
          for (std::int64_t i = 0; i < n; ++i) y[i] -= log_sum;
        });
      case SoftmaxKind::softmax_backward:
        return for_each(count, out, a, b, [](std::int64_t n, T* to, const T* grad, const T* y) {
          T dot = 0;
          for (std::int64_t i = 0; i < n; ++i) dot += grad[i] * y[i];
          for (std::int64_t i = 0; i < n; ++i) to[i] = y[i] * (grad[i] - dot);
        });
      case SoftmaxKind::log_softmax_backward:
        std::copy_n(b, count * n_, room_);
        precise_exp(rounded_up(count * n_), room_);
        return for_each(count, out, a, room_, [](std::int64_t n, T* to, const T* grad, const T* e) {
          const T total = sum(n, grad);
          for (std::int64_t i = 0; i < n; ++i) to[i] = grad[i] - e[i] * total;
        });
    }
  }

  template <class F>
  void for_each(std::int64_t count, T* out, const T* a, const T* b, F f) const {
    for (std::int64_t at = 0; at < count * n_; at += n_) f(n_, out + at, a + at, b + at);
  }

  void subtract_max(std::int64_t count, T* out, const T* a) const {
    for_each(count, out, a, a, [](std::int64_t n, T* to, const T* x, const T*) {
      const T largest = *std::max_element(x, x + n);
      for (std::int64_t i = 0; i < n; ++i) to[i] = x[i] - largest;
    });
  }

  static T sum(std::int64_t n, const T* x) {
    T total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += x[i];
    return total;
  }

  static std::int64_t rounded_up(std::int64_t n) { return (n + 15) / 16 * 16; }

  static constexpr std::int64_t kRoom = 512;
  SoftmaxKind kind_;
  std::int64_t n_;
  T room_[kRoom] = {};
};

// A run of rows (or columns) of an operation's output and inputs.
template <class T>
struct Run {
  SoftmaxKind kind;
  std::int64_t n, rows;
  bool has_few_columns;  // fewer than 4 columns are next to each other
  RowLoop::Pointers p;
  RowLoop::Steps row_step, step;  // bytes from row to row, and from element to element

  static bool all(const RowLoop::Steps& steps, std::int64_t bytes) {
    return std::all_of(steps.begin(), steps.end(), [=](auto s) { return s == bytes; });
  }
  T* at(std::size_t k) const { return reinterpret_cast<T*>(p[k]); }

  void compute(bool large) const {
    constexpr std::int64_t kSize = sizeof(T);
    if (n < 16) {
      if (!all(step, kSize) || !all(row_step, n * kSize)) return compute_apart();
      ShortRows<T>(kind, n).compute(rows, at(0), at(1), at(2));
    } else if (all(step, kSize)) {
      const bool streams = large && can_stream();
      softmax_lines(kind, streams ? SoftmaxLayout::streamed_rows : SoftmaxLayout::rows,
                    lines(row_step));
    } else if (all(row_step, kSize) && !has_few_columns) {
      softmax_lines(kind, SoftmaxLayout::columns, lines(step));
    } else {
      compute_apart();
    }
  }

 private:
  SoftmaxLines<T> lines(const RowLoop::Steps& steps) const {
    return {rows, n, at(0), at(1), at(2), steps[0], steps[1], steps[2]};
  }

  bool can_stream() const {
    constexpr std::int64_t kUnit = 64;
    return reinterpret_cast<std::uintptr_t>(p[0]) % kUnit == 0 && row_step[0] % kUnit == 0 &&
           n * static_cast<std::int64_t>(sizeof(T)) % kUnit == 0;
  }

  // Computes several rows at a time in a contiguous buffer. If neighbouring rows share cache lines,
  // each line is read once for all of them.
  void compute_apart() const {
    const std::int64_t group = std::clamp<std::int64_t>((n < 16 ? 512 : 32768) / n, 1, 64);
    const Array buffer = Array::empty({3, std::min(group, rows), n}, dtype_of<T>());
    const std::int64_t row_bytes = n * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t row = 0; row < rows; row += group) {
      const std::int64_t count = std::min(group, rows - row);
      const auto element = [&](std::size_t k, std::int64_t r, std::int64_t i) -> T& {
        return *reinterpret_cast<T*>(p[k] + (row + r) * row_step[k] + i * step[k]);
      };
      std::array<T*, 3> line;
      RowLoop::Pointers lines;
      for (std::size_t k = 0; k < 3; ++k) {
        line[k] = buffer.data<T>() + static_cast<std::int64_t>(k) * count * n;
        lines[k] = reinterpret_cast<std::byte*>(line[k]);
        if (k == 0) continue;
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t r = 0; r < count; ++r) line[k][r * n + i] = element(k, r, i);
        }
      }
      const std::int64_t size = sizeof(T);
      Run{kind, n, count, false, lines, {row_bytes, row_bytes, row_bytes}, {size, size, size}}
          .compute(false);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t r = 0; r < count; ++r) element(0, r, i) = line[0][r * n + i];
      }
    }
  }
};

// True if the dimensions before `dim` have size 1, and the last one is contiguous.
bool is_one_matrix(const std::array<Array, 3>& arrays, std::int64_t dim) {
  const Array& out = arrays[0];
  for (std::int64_t d = 0; d < dim; ++d) {
    if (out.shape()[d] != 1) return false;
  }
  return std::all_of(arrays.begin(), arrays.end(),
                     [](const Array& x) { return x.strides()[x.rank() - 1] == 1; });
}

template <class T>
void for_rows(SoftmaxKind kind, const std::array<Array, 3>& arrays, std::int64_t dim) {
  constexpr std::int64_t kLarge = 64 << 20;  // in bytes, more than the caches hold
  constexpr std::int64_t kMinColumns = 128;  // per chunk, so that whole cache lines are used
  const std::int64_t n = arrays[0].shape()[dim], size = item_size(dtype_of<T>());
  if (arrays[0].numel() == 0) return;
  std::array<Array, 3> heads;  // the first element of every row
  RowLoop::Steps step;
  for (std::size_t k = 0; k < 3; ++k) {
    heads[k] = arrays[k].select(dim, 0);
    step[k] = size * (n == 1 ? 1 : arrays[k].strides()[dim]);
  }
  const bool large = arrays[0].numel() * size >= kLarge;
  const std::int64_t total = arrays[0].numel() / n;
  std::int64_t grain = row_grain(total, n);
  if (!Run<T>::all(step, size)) {
    // Columns of a single matrix are one chunk, because softmax_lines shares their work itself.
    grain = is_one_matrix(arrays, dim) ? total : std::max(grain, kMinColumns);
  }
  // The columns of the whole array, and not of a chunk: the bits must not depend on where a chunk
  // ends.
  std::int64_t columns = 1;
  for (std::int64_t d = dim + 1; d < arrays[0].rank(); ++d) columns *= arrays[0].shape()[d];
  const bool has_few_columns = columns < 4;
  RowLoop({&heads[0], &heads[1], &heads[2]})
      .run(
          [&](std::int64_t rows, const auto& p, const auto& row_step) {
            Run<T>{kind, n, rows, has_few_columns, p, row_step, step}.compute(large);
          },
          grain);
}

void run(SoftmaxKind kind, std::string_view operation, const Array& out, const Array& a,
         const Array& b, std::int64_t dim) {
  dim = wrap_dim(operation, dim, out.rank());
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // If neighbours in the output are far apart in an input, the input is transposed first.
    const bool is_0d = out.rank() == 0;
    const auto as_row = [&](const Array& x) {
      if (is_0d) return x.unsqueeze(0);
      return out.is_contiguous() && x.strides()[x.rank() - 1] > 1 ? x.contiguous() : x;
    };
    for_rows<T>(kind, {as_row(out), as_row(a), as_row(b)}, dim);
  });
}

}  // namespace

void softmax(const Array& out, const Array& a, std::int64_t dim) {
  run(SoftmaxKind::softmax, "softmax", out, a, a, dim);
}
void log_softmax(const Array& out, const Array& a, std::int64_t dim) {
  run(SoftmaxKind::log_softmax, "log_softmax", out, a, a, dim);
}
void softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim) {
  run(SoftmaxKind::softmax_backward, "softmax_backward", out, grad, y, dim);
}
void log_softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim) {
  run(SoftmaxKind::log_softmax_backward, "log_softmax_backward", out, grad, y, dim);
}

}  // namespace tend::kernels
