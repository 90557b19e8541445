// The dimensions of a loop over several arrays.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/core/base/error.h>

namespace tend::kernels {

/// The dimensions of N operands, outermost first. Neighbouring dimensions are merged if every
/// operand is evenly spaced along both. Dimensions of size 1 are left out.
template <std::size_t N>
class CollapsedDims {
 public:
  using Steps = std::array<std::int64_t, N>;
  struct Dim {
    std::int64_t size;
    Steps step;  // in elements or in bytes; the user of the class chooses
  };
  static constexpr std::size_t kMaxDims = 64;

  /// Appends a dimension inside the others.
  ///
  /// Throws: ShapeError - there are more than kMaxDims dimensions
  void push(const char* operation, const Dim& dim) {
    if (dim.size == 1) return;
    if (rank_ > 0 && continues(dims_[rank_ - 1], dim)) {
      dims_[rank_ - 1] = {dims_[rank_ - 1].size * dim.size, dim.step};
      return;
    }
    if (rank_ == kMaxDims) fail<ShapeError>(operation, "more than ", kMaxDims, " dimensions");
    dims_[rank_++] = dim;
  }
  /// Removes and returns the innermost dimension. Returns a dimension of size 1 if there is none.
  Dim pop() { return rank_ == 0 ? Dim{1, {}} : dims_[--rank_]; }

  std::size_t rank() const noexcept { return rank_; }
  const Dim& operator[](std::size_t d) const { return dims_[d]; }

  /// Sorts the dimensions by their steps in operand number `operand`, the largest step first.
  /// Dimensions with equal steps stay in order.
  void sort_by(std::size_t operand) {
    // An insertion sort, since there are few dimensions and std::stable_sort allocates memory.
    const auto first = dims_.begin();
    for (auto next = first; next != first + static_cast<std::ptrdiff_t>(rank_); ++next) {
      const auto place = std::upper_bound(first, next, *next, [=](const Dim& a, const Dim& b) {
        return a.step[operand] > b.step[operand];
      });
      std::rotate(place, next, next + 1);
    }
  }

  std::int64_t count() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < rank_; ++d) count *= dims_[d].size;
    return count;
  }

  /// The offset of element `number` in each operand. Elements are counted along the innermost
  /// dimension first.
  Steps offset(std::int64_t number) const {
    Steps at{};
    for (std::size_t d = rank_; d-- > 0;) {
      std::int64_t i = number;
      if (d > 0) {
        i = number % dims_[d].size;
        number /= dims_[d].size;
      }
      for (std::size_t k = 0; k < N; ++k) at[k] += i * dims_[d].step[k];
    }
    return at;
  }

 private:
  static bool continues(const Dim& outer, const Dim& inner) {
    for (std::size_t k = 0; k < N; ++k) {
      if (outer.step[k] != inner.size * inner.step[k]) return false;
    }
    return true;
  }

  std::array<Dim, kMaxDims> dims_;
  std::size_t rank_ = 0;
};

}  // namespace tend::kernels
