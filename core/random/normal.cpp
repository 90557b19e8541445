#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/random/normal.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <numbers>

#include <tend/core/random/normal.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 8>;
using Ints = hn::RebindToSigned<Floats>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Vector constant(double value) {
  return hn::Set(Floats(), static_cast<float>(value));
}

// The natural logarithm of a positive normal x: logf from the Cephes library.
HWY_INLINE Vector log(Vector x) {
  const Ints ints;
  const Floats floats;
  const auto bits = hn::BitCast(ints, x);
  const auto one = constant(1.0);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); then x becomes m - 1.
  auto e = hn::ConvertTo(floats, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(ints, 126)));
  const auto fraction = hn::And(bits, hn::Set(ints, 0x007fffff));
  const auto m = hn::BitCast(floats, hn::Or(fraction, hn::Set(ints, 0x3f000000)));
  const auto small = hn::Lt(m, constant(0.707106781186547524));
  e = hn::Sub(e, hn::IfThenElseZero(small, one));
  x = hn::Add(hn::Sub(m, one), hn::IfThenElseZero(small, m));

  auto y = constant(7.0376836292e-2);
  for (const double c : {-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                         -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1}) {
    y = hn::MulAdd(y, x, constant(c));
  }
  const auto square = hn::Mul(x, x);
  y = hn::MulAdd(hn::Mul(y, x), square, hn::Mul(e, constant(-2.12194440e-4)));
  y = hn::NegMulAdd(square, constant(0.5), y);
  return hn::MulAdd(e, constant(0.693359375), hn::Add(x, y));
}

// The sine and cosine of x in [0, 8192): sinf and cosf from the Cephes library, computed together.
HWY_INLINE void sin_cos(Vector x, Vector& sine, Vector& cosine) {
  const Ints ints;
  const Floats floats;
  // Subtracts the nearest even multiple of pi/4, in three parts so that no digits are lost.
  auto octant = hn::ConvertTo(ints, hn::Mul(x, constant(1.27323954473516)));
  octant = hn::AndNot(hn::Set(ints, 1), hn::Add(octant, hn::Set(ints, 1)));
  const auto turns = hn::ConvertTo(floats, octant);
  for (const double part : {-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8}) {
    x = hn::MulAdd(turns, constant(part), x);
  }
  const auto square = hn::Mul(x, x);

  auto even = constant(2.443315711809948e-5);
  even = hn::MulAdd(even, square, constant(-1.388731625493765e-3));
  even = hn::MulAdd(even, square, constant(4.166664568298827e-2));
  even = hn::MulSub(hn::Mul(even, square), square, hn::Mul(square, constant(0.5)));
  even = hn::Add(even, constant(1.0));

  auto odd = constant(-1.9515295891e-4);
  odd = hn::MulAdd(odd, square, constant(8.3321608736e-3));
  odd = hn::MulAdd(odd, square, constant(-1.6666654611e-1));
  odd = hn::MulAdd(hn::Mul(odd, square), x, x);

  // In every second quarter turn, the sine and the cosine are swapped. Bit 2 of the octant is the
  // sign of the sine, and bit 2 of octant + 2 is the sign of the cosine.
  const auto two = hn::Set(ints, 2);
  const auto swapped = hn::RebindMask(floats, hn::TestBit(octant, two));
  const auto sine_sign = hn::ShiftLeft<29>(hn::And(octant, hn::Set(ints, 4)));
  const auto cosine_sign = hn::ShiftLeft<29>(hn::And(hn::Add(octant, two), hn::Set(ints, 4)));
  sine = hn::Xor(hn::IfThenElse(swapped, even, odd), hn::BitCast(floats, sine_sign));
  cosine = hn::Xor(hn::IfThenElse(swapped, odd, even), hn::BitCast(floats, cosine_sign));
}

void normal_blocks(float* data, std::int64_t blocks, float mean, float std) {
  const Floats floats;
  for (std::int64_t b = 0; b < blocks; ++b, data += 16) {
    for (std::size_t j = 0; j < 8; j += hn::Lanes(floats)) {
      const auto u1 = hn::Sub(constant(1.0), hn::LoadU(floats, data + j));
      const auto u2 = hn::LoadU(floats, data + 8 + j);
      const auto radius = hn::Sqrt(hn::Mul(constant(-2.0), log(u1)));
      Vector sine;
      Vector cosine;
      sin_cos(hn::Mul(constant(2.0 * std::numbers::pi), u2), sine, cosine);
      const auto scale = hn::Set(floats, std);
      const auto shift = hn::Set(floats, mean);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, cosine), scale, shift), floats, data + j);
      hn::StoreU(hn::MulAdd(hn::Mul(radius, sine), scale, shift), floats, data + 8 + j);
    }
  }
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(normal_blocks);

void normal_from_uniform(float* data, std::int64_t blocks, float mean, float std) {
  HWY_DYNAMIC_DISPATCH(normal_blocks)(data, blocks, mean, std);
}

void normal_from_uniform(double* data, std::int64_t blocks, double mean, double std) {
  for (std::int64_t b = 0; b < blocks; ++b, data += 16) {
    for (int j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - data[j]));
      const double theta = 2.0 * std::numbers::pi * data[j + 8];
      data[j] = std::fma(radius * std::cos(theta), std, mean);
      data[j + 8] = std::fma(radius * std::sin(theta), std, mean);
    }
  }
}

}  // namespace tend::kernels
#endif
