// Loops that apply a function of vectors to runs of a StridedLoop, compiled for every SIMD target
// that Highway offers. Only kernel sources include this file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_LANES_H
#undef TEND_CORE_KERNELS_LANES_H
#else
#define TEND_CORE_KERNELS_LANES_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/simd_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t N>
using RunPointers = std::array<std::byte*, N>;
template <std::size_t N>
using RunSteps = std::array<std::int64_t, N>;  // in bytes

/// An operand whose elements are contiguous.
template <class T>
struct Neighbours {
  const T* first;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return hn::LoadU(d, first + i);
  }
};

/// An operand that is the same number for every element.
template <class T>
struct Constant {
  T value;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t) const {
    return hn::Set(d, value);
  }
};

/// out[i] = f(d, a.at(i)...)
template <class T, class F, class... Operands>
HWY_INLINE void for_neighbours(std::size_t n, T* out, F f, Operands... a) {
  for_vectors(hn::ScalableTag<T>(), n,
              [=](auto d, std::size_t i) HWY_ATTR { hn::StoreU(f(d, a.at(d, i)...), d, out + i); });
}

/// out = f(d, a) or f(d, a, b) for strided elements, one at a time.
template <class T, class F, std::size_t N>
HWY_INLINE void for_strided(std::size_t n, RunPointers<N> p, const RunSteps<N>& step, F f) {
  const hn::CappedTag<T, 1> one;
  const auto load = [&](std::size_t k)
                        HWY_ATTR { return hn::LoadU(one, reinterpret_cast<const T*>(p[k])); };
  for (; n > 0; --n) {
    if constexpr (N == 2) {
      hn::StoreU(f(one, load(1)), one, reinterpret_cast<T*>(p[0]));
    } else {
      hn::StoreU(f(one, load(1), load(2)), one, reinterpret_cast<T*>(p[0]));
    }
    for (std::size_t k = 0; k < N; ++k) p[k] += step[k];
  }
}

/// Computes out = f(d, a) for a run of elements.
template <class T, class F>
HWY_INLINE void unary_run(std::int64_t count, const RunPointers<2>& p, const RunSteps<2>& step,
                          F f) {
  const auto n = static_cast<std::size_t>(count);
  if (step[0] == sizeof(T) && step[1] == sizeof(T)) {
    const Neighbours<T> a{reinterpret_cast<const T*>(p[1])};
    return for_neighbours(n, reinterpret_cast<T*>(p[0]), f, a);
  }
  for_strided<T>(n, p, step, f);
}

/// Computes out = f(d, a, b) for a run of elements.
template <class T, class F>
HWY_INLINE void binary_run(std::int64_t count, const RunPointers<3>& p, const RunSteps<3>& step,
                           F f) {
  const auto n = static_cast<std::size_t>(count);
  T* out = reinterpret_cast<T*>(p[0]);
  const Neighbours<T> a{reinterpret_cast<const T*>(p[1])}, b{reinterpret_cast<const T*>(p[2])};
  constexpr std::int64_t kNext = sizeof(T);
  if (step[0] == kNext && step[1] == kNext && step[2] == kNext)
    return for_neighbours(n, out, f, a, b);
  if (step[0] == kNext && step[1] == kNext && step[2] == 0)
    return for_neighbours(n, out, f, a, Constant<T>{*b.first});
  if (step[0] == kNext && step[1] == 0 && step[2] == kNext)
    return for_neighbours(n, out, f, Constant<T>{*a.first}, b);
  for_strided<T>(n, p, step, f);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
