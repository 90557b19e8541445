#include <tend/core/kernels/elementwise/dropout.h>

#include <cstring>

#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/dropout.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/mask_bits.h>
#include <tend/core/kernels/simd/simd_loop.h>

#ifndef TEND_CORE_KERNELS_DROPOUT_SPAN
#define TEND_CORE_KERNELS_DROPOUT_SPAN
namespace tend::kernels {

template <class T>
using MulSpan = void (*)(std::size_t n, T* out, const T* a, const std::uint8_t* bits, T factor);

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The mask for the elements that begin with element i. It is read from eight bytes, whatever the
// number of lanes is.
template <class D>
HWY_INLINE hn::Mask<D> kept(D d, const std::uint8_t* bits, std::size_t i) {
  std::uint64_t word;
  std::memcpy(&word, bits + i / 8, 8);
  return mask_from_bits(d, word >> i % 8);
}

template <class T>
void mul_span(std::size_t n, T* out, const T* a, const std::uint8_t* bits, T factor) {
  for_vectors(hn::CappedTag<T, 32>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto mask = hn::IfThenElseZero(kept(d, bits, i), hn::Set(d, factor));
    hn::StoreU(hn::Mul(hn::LoadU(d, a + i), mask), d, out + i);
  });
}

const ForTypes<MulSpan>& find_mul_span() {
  static constexpr ForTypes<MulSpan> kAll = {mul_span, mul_span};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_mul_span);

template <class T>
void mul_typed(const Array& out, const Array& a, const Array& bits, double factor) {
  const MulSpan<T> span = HWY_DYNAMIC_DISPATCH(find_mul_span)().of<T>();
  constexpr std::int64_t kGrain = 65536;  // a multiple of 8, so every chunk begins at a whole byte
  const auto* keep = reinterpret_cast<const std::uint8_t*>(bits.data<std::int64_t>());
  T* to = out.data<T>();
  const T* from = a.data<T>();
  parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    span(static_cast<std::size_t>(end - begin), to + begin, from + begin, keep + begin / 8,
         static_cast<T>(factor));
  });
}

}  // namespace

Array keep_bits_room(std::int64_t count) {
  return Array::empty({count / 64 + 2}, int64);
}

void mul_kept(const Array& out, const Array& a, const Array& bits, double factor) {
  if (out.dtype() == float32) return mul_typed<float>(out, a, bits, factor);
  mul_typed<double>(out, a, bits, factor);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
