// Loops that process elements in vectors, for every SIMD target. Only kernel sources include this
// file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_SIMD_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_LOOP_H
#undef TEND_CORE_KERNELS_SIMD_LOOP_H
#else
#define TEND_CORE_KERNELS_SIMD_LOOP_H
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(d, i) for each whole vector of the elements i to n. Returns the index of the first
/// element after these vectors.
template <class D, class F>
HWY_INLINE std::size_t for_whole_vectors(D d, std::size_t i, std::size_t n, const F& f) {
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) f(d, i);
  return i;
}

/// Calls f(d, i) for each whole vector of the elements 0 to n, and for each single element after
/// these vectors.
///
/// Vectors and single elements use the same functions. So a result does not depend on its position
/// if these functions are exact or round as IEEE 754 requires.
template <class D, class F>
HWY_INLINE void for_vectors(D d, std::size_t n, F f) {
  const std::size_t i = for_whole_vectors(d, 0, n, f);
  for_whole_vectors(hn::CappedTag<hn::TFromD<D>, 1>(), i, n, f);
}

/// As for_vectors, for rows, which may be short: the remaining elements are processed in vectors of
/// fewer and fewer lanes.
template <class T, std::size_t kMax = 16, class F>
HWY_INLINE void for_row_vectors(std::size_t n, F f, std::size_t i = 0) {
  i = for_whole_vectors(hn::CappedTag<T, kMax>(), i, n, f);
  if constexpr (kMax > 1) {
    if (i < n) for_row_vectors<T, kMax / 4>(n, f, i);
  }
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
