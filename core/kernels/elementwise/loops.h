// Loops over strided arrays. Dimensions are sorted and collapsed once; then a plain inner loop gets
// pointers and steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/core/array/array.h>
#include <tend/core/array/collapsed_dims.h>
#include <tend/core/base/function_ref.h>

namespace tend::kernels {

/// Elements per chunk of an elementwise loop: large enough to pay for handing it to another thread,
/// small enough to share the work evenly.
inline constexpr std::int64_t kElementGrain = 32768;

/// The number of elements per chunk for operations that memory bandwidth limits.
inline constexpr std::int64_t kStreamGrain = 65536;

/// The number of rows per chunk, for `rows` rows of n elements. A chunk has one eighth of all
/// elements, but at least 8192 and at most kElementGrain.
constexpr std::int64_t row_grain(std::int64_t rows, std::int64_t n) noexcept {
  const std::int64_t elements = std::clamp<std::int64_t>(rows * n / 8, 8192, kElementGrain);
  return std::max<std::int64_t>(1, elements / std::max<std::int64_t>(n, 1));
}

/// Visits N arrays together, for N up to 4. Elements are visited in the memory order of the output,
/// which is operand 0.
template <std::size_t N>
class StridedLoop {
 public:
  using Pointers = std::array<std::byte*, N>;
  using Steps = std::array<std::int64_t, N>;  // bytes
  /// Called for runs of `count` elements. Elements of operand i are steps[i] bytes apart.
  using Inner = FunctionRef<void(std::int64_t count, const Pointers& pointers, const Steps& steps)>;

  /// Operands broadcast to the shape of operand 0. The last operand is read backwards along every
  /// dimension d whose bit 1 << d is set in `flipped`.
  explicit StridedLoop(const std::array<const Array*, N>& operands, std::uint64_t flipped = 0);

  /// Calls inner for runs of the innermost dimension, in parallel if there are many elements.
  void run(Inner inner, std::int64_t grain = kElementGrain) const;

  /// As run, for an `inner` whose results depend only on the values of the elements.
  ///
  /// If neighbours in the output are far apart in an input, the input is transposed tile by tile
  /// into buffers, and inner reads from these.
  void run_elements(Inner inner, std::int64_t grain = kElementGrain) const;

 private:
  using Dims = CollapsedDims<N>;
  using Dim = typename Dims::Dim;
  class Tiles;

  bool take_flat(const std::array<const Array*, N>& operands);
  void push_dim(const std::array<const Array*, N>& operands, std::int64_t d, bool flip);
  void run_range(std::int64_t begin, std::int64_t end, const Inner& inner) const;

  Pointers base_;
  Steps items_;  // bytes of an element
  std::int64_t total_;
  Dims outer_;
  Dim inner_;
};

extern template class StridedLoop<1>;
extern template class StridedLoop<2>;
extern template class StridedLoop<3>;
extern template class StridedLoop<4>;

/// out[i] = f(a[i]). `a` broadcasts to out; the element types are Out and A.
template <class Out, class A, class F>
void map(const Array& out, const Array& a, F f) {
  StridedLoop<2>({&out, &a}).run_elements([f](std::int64_t count, const auto& p, const auto& step) {
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
  StridedLoop<3>({&out, &a, &b})
      .run_elements([f](std::int64_t count, const auto& p, const auto& step) {
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

}  // namespace tend::kernels
