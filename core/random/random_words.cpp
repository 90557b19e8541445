#include <tend/core/random/random_words.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/random/random_words.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// At most 64 lanes. The recurrence reads words that it computed 227 words before, so a vector must
// not be longer than that.
using Words = hn::CappedTag<std::uint32_t, 64>;
using OneWord = hn::CappedTag<std::uint32_t, 1>;

// The upper bit of `a` joined with the other bits of `b`, times the matrix of the recurrence.
template <class D, class V>
HWY_INLINE V mix(D d, V a, V b) {
  const V joined = hn::Or(hn::And(a, hn::Set(d, 0x80000000u)), hn::And(b, hn::Set(d, 0x7fffffffu)));
  const V odd = hn::Sub(hn::Zero(d), hn::And(b, hn::Set(d, 1u)));  // all bits are 1, or all are 0
  return hn::Xor(hn::ShiftRight<1>(joined), hn::And(odd, hn::Set(d, 0x9908b0dfu)));
}

// Computes state[i] = source[i] ^ mix(state[i], state[i + 1]) for `count` words, in ascending
// order. So each state[i + 1] is read before it is overwritten.
HWY_NOINLINE void advance(std::uint32_t* state, const std::uint32_t* source, std::size_t count) {
  for_vectors(Words(), count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto next = mix(d, hn::LoadU(d, state + i), hn::LoadU(d, state + i + 1));
    hn::StoreU(hn::Xor(hn::LoadU(d, source + i), next), d, state + i);
  });
}

void twist(std::uint32_t* state) {
  constexpr std::size_t kMiddle = 397, kWrap = kTwisterWords - kMiddle;
  const OneWord one;
  advance(state, state + kMiddle, kWrap);
  advance(state + kWrap, state, kMiddle - 1);
  const auto last = mix(one, hn::LoadU(one, state + kTwisterWords - 1), hn::LoadU(one, state));
  hn::StoreU(hn::Xor(hn::LoadU(one, state + kMiddle - 1), last), one, state + kTwisterWords - 1);
}

void temper(std::uint32_t* out, const std::uint32_t* in, std::size_t count) {
  for_vectors(Words(), count, [=](auto d, std::size_t i) HWY_ATTR {
    auto x = hn::LoadU(d, in + i);
    x = hn::Xor(x, hn::ShiftRight<11>(x));
    x = hn::Xor(x, hn::And(hn::ShiftLeft<7>(x), hn::Set(d, 0x9d2c5680u)));
    x = hn::Xor(x, hn::And(hn::ShiftLeft<15>(x), hn::Set(d, 0xefc60000u)));
    hn::StoreU(hn::Xor(x, hn::ShiftRight<18>(x)), d, out + i);
  });
}

void uniform_floats(float* out, const std::uint32_t* words, std::size_t count) {
  for_vectors(Words(), count, [=](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::RebindToFloat<decltype(d)> df;
    const auto mantissa = hn::And(hn::LoadU(d, words + i), hn::Set(d, 0xffffffu));
    const auto value = hn::ConvertTo(df, hn::BitCast(di, mantissa));
    hn::StoreU(hn::Mul(value, hn::Set(df, 0x1p-24f)), df, out + i);
  });
}

// The low 53 bits of each pair of words. The first word is the upper half of the 64 bits, but in
// memory it is the lower half.
template <class D>
HWY_INLINE hn::Vec<D> mantissas(D d, const std::uint32_t* pairs) {
  const auto pair = hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(pairs));
  const auto swapped = hn::Or(hn::ShiftLeft<32>(pair), hn::ShiftRight<32>(pair));
  return hn::And(swapped, hn::Set(d, (std::uint64_t{1} << 53) - 1));
}

// Converts 53 bits to a double exactly, with instructions that every target has. The lower 52 bits
// become the mantissa of a number that is at least 2^52, and 2^52 is subtracted again. If the upper
// bit is 1, 2^52 is added.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToFloat<D>> uniform_double(D d, const std::uint32_t* pairs) {
  const hn::RebindToFloat<D> df;
  const auto bits = mantissas(d, pairs);
  const auto low = hn::And(bits, hn::Set(d, (std::uint64_t{1} << 52) - 1));
  const auto exponent = hn::BitCast(d, hn::Set(df, 0x1p52));
  const auto value = hn::Sub(hn::BitCast(df, hn::Or(low, exponent)), hn::Set(df, 0x1p52));
  const auto upper = hn::Sub(hn::Zero(d), hn::ShiftRight<52>(bits));  // all bits 1, or all 0
  const auto top = hn::BitCast(df, hn::And(upper, exponent));
  return hn::Mul(hn::Add(value, top), hn::Set(df, 0x1p-53));
}

void uniform_doubles(double* out, const std::uint32_t* words, std::size_t count) {
  for_vectors(hn::ScalableTag<std::uint64_t>(), count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(uniform_double(d, words + 2 * i), hn::RebindToFloat<decltype(d)>(), out + i);
  });
}

void bits_below(std::uint8_t* bits, const std::uint32_t* words, std::size_t count,
                std::uint64_t below) {
  const hn::CappedTag<std::int64_t, 8> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  const auto bound = hn::Set(d, static_cast<std::int64_t>(below));
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    unsigned byte = 0;
    for (std::size_t l = 0; l < 8; l += lanes) {
      const auto mantissa = hn::BitCast(d, mantissas(du, words + 2 * (i + l)));
      std::uint8_t part[8];
      hn::StoreMaskBits(d, hn::Lt(mantissa, bound), part);
      byte |= static_cast<unsigned>(part[0]) << l;
    }
    *bits++ = static_cast<std::uint8_t>(byte);
  }
  if (i == count) return;
  unsigned byte = 0;
  for (std::size_t l = 0; i + l < count; ++l) {
    const hn::CappedTag<std::uint64_t, 1> one;
    byte |= static_cast<unsigned>(hn::GetLane(mantissas(one, words + 2 * (i + l))) < below) << l;
  }
  *bits = static_cast<std::uint8_t>(byte);
}

const RandomKernels& find_random_kernels() {
  static constexpr RandomKernels kAll = {
      twist, temper, {uniform_floats, uniform_doubles}, bits_below};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_random_kernels);

const RandomKernels& random_kernels() {
  return HWY_DYNAMIC_DISPATCH(find_random_kernels)();
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
