#include <tend/core/kernels/dropout.h>

#include <cstring>

#include <tend/core/parallel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/dropout.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The mask for elements i, ...; Highway reads eight bytes.
template <class D>
HWY_INLINE hn::Mask<D> kept(D d, const std::uint8_t* bits, std::size_t i) {
  std::uint64_t word;
  std::memcpy(&word, bits + i / 8, 8);
  word >>= i % 8;
  std::uint8_t shifted[8];
  std::memcpy(shifted, &word, 8);
  return hn::LoadMaskBits(d, shifted);
}

template <class T>
HWY_INLINE void mul_span(std::size_t n, T* out, const T* a, const std::uint8_t* bits, T factor) {
  const hn::CappedTag<T, 32> d;
  const hn::CappedTag<T, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto mask = hn::IfThenElseZero(kept(d, bits, i), scale);
    hn::StoreU(hn::Mul(hn::LoadU(d, a + i), mask), d, out + i);
  }
  for (; i < n; ++i) {
    const auto mask = hn::IfThenElseZero(kept(one, bits, i), hn::Set(one, factor));
    hn::StoreU(hn::Mul(hn::LoadU(one, a + i), mask), one, out + i);
  }
}

void mul_floats(std::size_t n, float* out, const float* a, const std::uint8_t* bits, float factor) {
  mul_span(n, out, a, bits, factor);
}
void mul_doubles(std::size_t n, double* out, const double* a, const std::uint8_t* bits,
                 double factor) {
  mul_span(n, out, a, bits, factor);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(mul_floats);
HWY_EXPORT(mul_doubles);

template <class T, class Span>
void mul_typed(const Array& out, const Array& a, const Array& bits, double factor, Span span) {
  constexpr std::int64_t kGrain = 65536;  // a multiple of 8: chunks begin with a byte
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
  if (out.dtype() == float32)
    return mul_typed<float>(out, a, bits, factor, HWY_DYNAMIC_DISPATCH(mul_floats));
  mul_typed<double>(out, a, bits, factor, HWY_DYNAMIC_DISPATCH(mul_doubles));
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
