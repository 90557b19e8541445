// Applies functions of vectors to spans of elements, compiled for every SIMD target that Highway
// offers. Only kernel sources include this file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_SIMD_TRANSFORM_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_TRANSFORM_H
#undef TEND_CORE_KERNELS_SIMD_TRANSFORM_H
#else
#define TEND_CORE_KERNELS_SIMD_TRANSFORM_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

#include <tend/core/kernels/simd/prefetch.h>
#include <tend/core/kernels/simd/simd_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes out[i] = f(d, in[i]...).
///
/// A partial vector at the end is copied to a buffer, so that the same instructions compute it.
/// Prefetching pays for functions of one number that need more time than the memory access.
template <class D, class T, class F, class... Inputs>
HWY_INLINE void transform(D d, bool prefetches, std::size_t n, T* out, F f, const Inputs*... in) {
  prefetches &= pays_to_prefetch(n * sizeof(T));
  const std::size_t end = for_whole_vectors(d, 0, n, [=](auto, std::size_t i) HWY_ATTR {
    if (prefetches) (prefetch_ahead(in + i), ..., prefetch_ahead(out + i));
    hn::StoreU(f(d, hn::LoadU(d, in + i)...), d, out + i);
  });
  if (end == n) return;
  const std::size_t rest = (n - end) * sizeof(T);
  HWY_ALIGN T tail[hn::MaxLanes(D())] = {};
  const auto load = [&](const T* from) HWY_ATTR {
    std::memcpy(tail, from + end, rest);
    return hn::Load(d, tail);
  };
  hn::Store(f(d, load(in)...), d, tail);
  std::memcpy(out + end, tail, rest);
}

/// Rounds double lanes to float.
template <class D, class V>
HWY_INLINE hn::Vec<D> narrowed(D d, V wide) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // On these targets, Highway converts a number that is too large to FLT_MAX.
  const hn::Rebind<double, D> dw;
  HWY_ALIGN double from[hn::MaxLanes(dw)];
  HWY_ALIGN float to[hn::MaxLanes(d)];
  hn::Store(wide, dw, from);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = static_cast<float>(from[i]);
  return hn::Load(d, to);
#else
  return hn::DemoteTo(d, wide);
#endif
}

/// As transform, for float elements. f is computed in double.
template <class F, class... Inputs>
HWY_INLINE void transform_in_double(std::size_t n, float* out, F f, const Inputs*... in) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const auto f_in_double = [=](auto d, auto... x)
                               HWY_ATTR { return narrowed(d, f(wide, hn::PromoteTo(wide, x)...)); };
  transform(narrow, sizeof...(in) == 1, n, out, f_in_double, in...);
}

/// x rounded to a whole number. On some targets, Highway's functions lose the sign of a zero.
template <class V>
HWY_INLINE V floor(V x) {
  return hn::CopySign(hn::Floor(x), x);
}
template <class V>
HWY_INLINE V ceil(V x) {
  return hn::CopySign(hn::Ceil(x), x);
}
template <class V>
HWY_INLINE V trunc(V x) {
  return hn::CopySign(hn::Trunc(x), x);
}
/// Halves are rounded to the even number.
template <class V>
HWY_INLINE V round(V x) {
  return hn::CopySign(hn::Round(x), x);
}

template <class D>
HWY_INLINE hn::Vec<D> one(D d) {
  return hn::Set(d, hn::TFromD<D>(1));
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
