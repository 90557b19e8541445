// Loops over strided arrays: dimensions are sorted and collapsed once, then a plain inner loop sees
// pointers and steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/core/array.h>
#include <tend/core/parallel.h>

namespace tend::kernels {

/// Elements per chunk of an elementwise loop: large enough to pay for a hand-over, small enough to
/// share.
inline constexpr std::int64_t kElementGrain = 32768;

/// Visits N arrays of one shape together. The order of the elements is the output's (operand 0)
/// order in memory.
template <std::size_t N>
class StridedLoop {
 public:
  using Pointers = std::array<std::byte*, N>;
  using Steps = std::array<std::int64_t, N>;  // bytes

  /// All operands have the shape of operand 0 (inputs are expanded to it). The last one is walked
  /// backwards along every dimension d whose bit 1 << d is in `flipped`.
  explicit StridedLoop(const std::array<const Array*, N>& operands, std::uint64_t flipped = 0) {
    const Array& out = *operands[0];
    for (std::size_t i = 0; i < N; ++i) base_[i] = static_cast<std::byte*>(operands[i]->raw());
    total_ = out.numel();
    std::array<std::int64_t, kMostDims> order{};
    // The strides of an empty array may be beyond what they could be in bytes.
    const std::int64_t rank = total_ == 0 ? 0 : sort_dims(out, order);
    for (std::int64_t i = 0; i < rank; ++i) {
      const std::int64_t d = order[static_cast<std::size_t>(i)];
      push_dim(operands, d, (flipped >> d & 1) != 0);
    }
    if (dims_ == 0) push_unit_dim();
  }

  /// Calls inner(count, pointers, steps) over runs of the innermost dimension, in parallel when
  /// there is much to do.
  template <class F>
  void run(F&& inner, std::int64_t grain = kElementGrain) const {
    if (total_ == 0) return;
    parallel_for(0, total_, grain,
                 [&](std::int64_t begin, std::int64_t end) { run_range(begin, end, inner); });
  }

 private:
  static constexpr std::int64_t kMostDims = 64;

  // Dimensions of size over 1, the output's largest stride first.
  static std::int64_t sort_dims(const Array& out, std::array<std::int64_t, kMostDims>& order) {
    if (out.rank() > kMostDims)
      fail<ShapeError>("loop", "more than ", kMostDims, " dimensions in ", out.shape());
    std::int64_t rank = 0;
    for (std::int64_t d = 0; d < out.rank(); ++d) {
      if (out.shape()[d] != 1) order[static_cast<std::size_t>(rank++)] = d;
    }
    // Insertion sort: it is stable, and the few dimensions are nearly always in order already.
    for (std::int64_t i = 1; i < rank; ++i) {
      for (std::int64_t j = i; j > 0; --j) {
        auto& left = order[static_cast<std::size_t>(j - 1)];
        auto& right = order[static_cast<std::size_t>(j)];
        if (out.strides()[left] >= out.strides()[right]) break;
        std::swap(left, right);
      }
    }
    return rank;
  }

  void push_dim(const std::array<const Array*, N>& operands, std::int64_t d, bool flip) {
    Steps steps;
    for (std::size_t i = 0; i < N; ++i)
      steps[i] = operands[i]->strides()[d] * item_size(operands[i]->dtype());
    const std::int64_t size = operands[0]->shape()[d];
    if (flip) {
      base_[N - 1] += (size - 1) * steps[N - 1];
      steps[N - 1] = -steps[N - 1];
    }
    if (dims_ > 0) {
      bool even = true;
      for (std::size_t i = 0; i < N; ++i) even = even && steps_[dims_ - 1][i] == steps[i] * size;
      if (even) {
        sizes_[dims_ - 1] *= size;
        steps_[dims_ - 1] = steps;
        return;
      }
    }
    sizes_[dims_] = size;
    steps_[dims_++] = steps;
  }

  void push_unit_dim() {
    sizes_[0] = total_;
    steps_[0].fill(0);
    dims_ = 1;
  }

  template <class F>
  void run_range(std::int64_t begin, std::int64_t end, F& inner) const {
    const std::size_t last = dims_ - 1;
    const std::int64_t row_size = sizes_[last];
    std::array<std::int64_t, kMostDims> index;
    std::int64_t column = begin % row_size;
    Pointers row = seek(begin / row_size, index);
    while (begin < end) {
      const std::int64_t count = std::min(row_size - column, end - begin);
      Pointers at = row;
      for (std::size_t i = 0; i < N; ++i) at[i] += column * steps_[last][i];
      inner(count, at, steps_[last]);
      begin += count;
      column = 0;
      if (begin < end) next_row(row, index);
    }
  }

  Pointers seek(std::int64_t row_number, std::array<std::int64_t, kMostDims>& index) const {
    Pointers row = base_;
    for (std::size_t d = dims_ - 1; d-- > 0;) {
      index[d] = row_number % sizes_[d];
      row_number /= sizes_[d];
      for (std::size_t i = 0; i < N; ++i) row[i] += index[d] * steps_[d][i];
    }
    return row;
  }

  void next_row(Pointers& row, std::array<std::int64_t, kMostDims>& index) const {
    for (std::size_t d = dims_ - 1; d-- > 0;) {
      for (std::size_t i = 0; i < N; ++i) row[i] += steps_[d][i];
      if (++index[d] < sizes_[d]) return;
      for (std::size_t i = 0; i < N; ++i) row[i] -= sizes_[d] * steps_[d][i];
      index[d] = 0;
    }
  }

  Pointers base_;
  std::array<std::int64_t, kMostDims> sizes_;
  std::array<Steps, kMostDims> steps_;
  std::size_t dims_ = 0;
  std::int64_t total_ = 0;
};

/// out[i] = f(a[i]). `a` broadcasts to out; element types are Out and A.
template <class Out, class A, class F>
void map(const Array& out, const Array& a, F f) {
  const Array a_view = a.shape() == out.shape() ? a : a.expand(out.shape());
  StridedLoop<2>({&out, &a_view}).run([f](std::int64_t count, const auto& p, const auto& step) {
    if (step[0] == sizeof(Out) && step[1] == sizeof(A)) {
      auto* to = reinterpret_cast<Out*>(p[0]);
      const auto* from = reinterpret_cast<const A*>(p[1]);
      for (std::int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<Out*>(p[0] + i * step[0]) =
          f(*reinterpret_cast<const A*>(p[1] + i * step[1]));
    }
  });
}

/// out[i] = f(a[i], b[i]); both broadcast to out.
template <class Out, class A, class B, class F>
void map(const Array& out, const Array& a, const Array& b, F f) {
  const Array a_view = a.shape() == out.shape() ? a : a.expand(out.shape());
  const Array b_view = b.shape() == out.shape() ? b : b.expand(out.shape());
  StridedLoop<3>({&out, &a_view, &b_view})
      .run([f](std::int64_t count, const auto& p, const auto& step) {
        auto* to = reinterpret_cast<Out*>(p[0]);
        const auto* x = reinterpret_cast<const A*>(p[1]);
        const auto* y = reinterpret_cast<const B*>(p[2]);
        if (step[0] == sizeof(Out) && step[1] == sizeof(A) && step[2] == sizeof(B)) {
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], y[i]);
        } else if (step[0] == sizeof(Out) && step[1] == sizeof(A) && step[2] == 0) {
          const B constant = *y;
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], constant);
        } else if (step[0] == sizeof(Out) && step[1] == 0 && step[2] == sizeof(B)) {
          const A constant = *x;
          for (std::int64_t i = 0; i < count; ++i) to[i] = f(constant, y[i]);
        } else {
          for (std::int64_t i = 0; i < count; ++i) {
            *reinterpret_cast<Out*>(p[0] + i * step[0]) =
                f(*reinterpret_cast<const A*>(p[1] + i * step[1]),
                  *reinterpret_cast<const B*>(p[2] + i * step[2]));
          }
        }
      });
}

/// out[i] = f(a[i], b[i], c[i]); all broadcast to out.
template <class Out, class A, class B, class C, class F>
void map(const Array& out, const Array& a, const Array& b, const Array& c, F f) {
  const Array a_view = a.expand(out.shape());
  const Array b_view = b.expand(out.shape());
  const Array c_view = c.expand(out.shape());
  StridedLoop<4>({&out, &a_view, &b_view, &c_view})
      .run([f](std::int64_t count, const auto& p, const auto& step) {
        for (std::int64_t i = 0; i < count; ++i) {
          *reinterpret_cast<Out*>(p[0] + i * step[0]) =
              f(*reinterpret_cast<const A*>(p[1] + i * step[1]),
                *reinterpret_cast<const B*>(p[2] + i * step[2]),
                *reinterpret_cast<const C*>(p[3] + i * step[3]));
        }
      });
}

/// out = f(a), or f(a, b), element by element in the floating dtype that all have; f is generic.
template <class F>
void map_floating(std::string_view operation, const Array& out, const Array& a, F f) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, f);
  });
}

template <class F>
void map_floating(std::string_view operation, const Array& out, const Array& a, const Array& b,
                  F f) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T>(out, a, b, f);
  });
}

}  // namespace tend::kernels
