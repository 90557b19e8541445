// Reductions of rows of contiguous elements, for every SIMD target. Only kernel sources include
// this file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_SIMD_ROWS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_ROWS_H
#undef TEND_CORE_KERNELS_SIMD_ROWS_H
#else
#define TEND_CORE_KERNELS_SIMD_ROWS_H
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows must have 16 elements or more, so that one vector always fits.
template <class T>
using RowTag = hn::CappedTag<T, 16>;

// Sums f(i, a[i...], b[i...]) over the vectors of a row from left to right.
//
// The last vector ends at the end of the row, so it may overlap the previous vector. The overlap is
// not summed twice. The last vector is loaded first, because f may overwrite the elements.
template <class T, class F>
HWY_INLINE hn::Vec<RowTag<T>> for_row(std::size_t n, const T* a, const T* b, F f) {
  const RowTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto last_a = hn::LoadU(d, a + n - lanes);
  const auto last_b = hn::LoadU(d, b + n - lanes);
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    sum = hn::Add(sum, f(i, hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
  if (i == n) return sum;
  const auto rest = f(n - lanes, last_a, last_b);
  return hn::Add(sum, hn::IfThenZeroElse(hn::FirstN(d, i - (n - lanes)), rest));
}

// The maximum of a row, in every lane.
template <class T>
HWY_INLINE hn::Vec<RowTag<T>> row_max(std::size_t n, const T* a) {
  const RowTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto first = hn::LoadU(d, a + n - lanes), second = first, third = first, fourth = first;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    first = hn::Max(first, hn::LoadU(d, a + i));
    second = hn::Max(second, hn::LoadU(d, a + i + lanes));
    third = hn::Max(third, hn::LoadU(d, a + i + 2 * lanes));
    fourth = hn::Max(fourth, hn::LoadU(d, a + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) first = hn::Max(first, hn::LoadU(d, a + i));
  return hn::MaxOfLanes(d, hn::Max(hn::Max(first, second), hn::Max(third, fourth)));
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
