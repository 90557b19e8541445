// Functions of vectors over spans of elements, compiled for every SIMD target that Highway offers.
// Included by kernel sources after <hwy/foreach_target.h>; not for others.

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

/// out[i] = f(d, in[i]...). A partial vector at the end goes through a buffer, so that it uses the
/// same instructions. To prefetch pays for functions of one number that take longer than memory.
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

template <class D>
HWY_INLINE hn::Vec<D> one(D d) {
  return hn::Set(d, hn::TFromD<D>(1));
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
