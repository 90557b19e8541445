// Loops over the lanes of strips, for the operations of a TileProgram. Only kernel sources include
// the file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_TILE_LOOPS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_TILE_LOOPS_H
#undef TEND_CORE_KERNELS_TILE_LOOPS_H
#else
#define TEND_CORE_KERNELS_TILE_LOOPS_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include <tend/core/kernels/attention/tile_plan.h>
#include <tend/core/kernels/simd/mask_bits.h>
#include <tend/core/kernels/simd/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// All loops run over whole vectors: strips have a multiple of 64 lanes.
inline constexpr std::size_t kWord = 64;
static_assert(kWord == kAttentionTile, "a row of truth values is one word");

template <class D, class M>
HWY_INLINE std::uint64_t bits_of_mask(D d, M mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits;
  std::memcpy(&bits, bytes, 8);
  return bits & first_bits(hn::Lanes(d));
}

// out[i] = f(d, vectors of the inputs...)
template <class E, class F, class... In>
HWY_INLINE void map(std::size_t n, E* HWY_RESTRICT out, F f, const In*... in) {
  const hn::CappedTag<E, 16> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::Store(f(d, hn::Load(d, in + i)...), d, out + i);
  }
}

// Writes the mask that f(d, vectors of the inputs...) returns to `words`: one bit for each lane.
template <class E, class F, class... In>
HWY_INLINE void test(std::size_t n, std::uint64_t* HWY_RESTRICT words, F f, const In*... in) {
  const hn::CappedTag<E, 16> d;
  for (std::size_t word = 0; word < n / kWord; ++word) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < kWord; i += hn::Lanes(d)) {
      bits |= bits_of_mask(d, f(d, hn::Load(d, in + word * kWord + i)...)) << i;
    }
    words[word] = bits;
  }
}

// The result is NaN if either number is NaN.
template <class D, class V>
HWY_INLINE V least(D, V a, V b) {
  return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Lt(a, b), a, b), a);
}
template <class D, class V>
HWY_INLINE V greatest(D, V a, V b) {
  return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Lt(b, a), a, b), a);
}

// The addresses of a node's lanes and of its inputs' lanes, for n lanes.
struct Operands {
  std::size_t n;
  void* out;
  const void* in[3];

  template <class E>
  const E* at(std::size_t i) const {
    return static_cast<const E*>(in[i]);
  }
};

template <class E>
HWY_INLINE bool compute_arithmetic(TileOp op, const Operands& lanes) {
  E* const out = static_cast<E*>(lanes.out);
  const E *a = lanes.at<E>(0), *b = lanes.at<E>(1);
  const std::size_t n = lanes.n;
  switch (op) {
    case TileOp::add:
      map(
          n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Add(x, y); }, a, b);
      return true;
    case TileOp::sub:
      map(
          n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Sub(x, y); }, a, b);
      return true;
    case TileOp::mul:
      map(
          n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
      return true;
    case TileOp::min:
      map(
          n, out, [](auto d, auto x, auto y) HWY_ATTR { return least(d, x, y); }, a, b);
      return true;
    case TileOp::max:
      map(
          n, out, [](auto d, auto x, auto y) HWY_ATTR { return greatest(d, x, y); }, a, b);
      return true;
    case TileOp::neg:
      map(
          n, out, [](auto, auto x) HWY_ATTR { return hn::Neg(x); }, a);
      return true;
    case TileOp::abs:
      map(
          n, out, [](auto, auto x) HWY_ATTR { return hn::Abs(x); }, a);
      return true;
    default: return false;
  }
}

template <class T>
HWY_INLINE void compute_function(TileOp op, const Operands& lanes) {
  T* const out = static_cast<T*>(lanes.out);
  const T *a = lanes.at<T>(0), *b = lanes.at<T>(1);
  switch (op) {
    case TileOp::div:
      return map(
          lanes.n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Div(x, y); }, a, b);
    case TileOp::exp:
      return map(
          lanes.n, out, [](auto d, auto x) HWY_ATTR { return exp(d, x); }, a);
    case TileOp::log:
      return map(
          lanes.n, out, [](auto d, auto x) HWY_ATTR { return log(d, x); }, a);
    case TileOp::tanh:
      return map(
          lanes.n, out, [](auto d, auto x) HWY_ATTR { return tanh(d, x); }, a);
    default: assert(false && "not a function of real numbers");
  }
}

// Division in double is exact enough: if the quotient of two int32 is not an integer, its distance
// from the nearest integer is larger than the rounding error.
HWY_INLINE void divide(bool wants_remainder, const Operands& lanes, std::uint64_t* faults) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  auto* const out = static_cast<std::int32_t*>(lanes.out);
  for (std::size_t i = 0; i < lanes.n; i += hn::Lanes(d)) {
    const auto a = hn::PromoteTo(d, hn::Load(whole, lanes.at<std::int32_t>(0) + i));
    const auto b = hn::PromoteTo(d, hn::Load(whole, lanes.at<std::int32_t>(1) + i));
    const auto is_zero = hn::Eq(b, hn::Zero(d));
    faults[i / kWord] |= bits_of_mask(d, is_zero) << i % kWord;
    const auto divisor = hn::IfThenElse(is_zero, hn::Set(d, 1.0), b);
    auto result = hn::Floor(hn::Div(a, divisor));
    if (wants_remainder) result = hn::NegMulAdd(result, divisor, a);
    // -2^31 / -1 wraps around.
    result = hn::IfThenElse(hn::Gt(result, hn::Set(d, 2147483647.0)), hn::Neg(result), result);
    hn::Store(hn::DemoteTo(whole, hn::IfThenZeroElse(is_zero, result)), whole, out + i);
  }
}

template <class E>
HWY_INLINE void compare(TileOp op, const Operands& lanes) {
  auto* const out = static_cast<std::uint64_t*>(lanes.out);
  const E *a = lanes.at<E>(0), *b = lanes.at<E>(1);
  const std::size_t n = lanes.n;
  switch (op) {
    case TileOp::lt:
      return test<E>(
          n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Lt(x, y); }, a, b);
    case TileOp::le:
      return test<E>(
          n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Or(hn::Lt(x, y), hn::Eq(x, y)); },
          a, b);
    default:
      test<E>(
          n, out, [](auto, auto x, auto y) HWY_ATTR { return hn::Eq(x, y); }, a, b);
      if (op == TileOp::eq) return;
      for (std::size_t i = 0; i < n / kWord; ++i) out[i] = ~out[i];
  }
}

HWY_INLINE void combine_truths(TileOp op, const Operands& lanes) {
  auto* const out = static_cast<std::uint64_t*>(lanes.out);
  const auto *a = lanes.at<std::uint64_t>(0), *b = lanes.at<std::uint64_t>(1);
  const auto* c = lanes.at<std::uint64_t>(2);
  for (std::size_t i = 0; i < lanes.n / kWord; ++i) {
    switch (op) {
      case TileOp::logical_and: out[i] = a[i] & b[i]; break;
      case TileOp::logical_or: out[i] = a[i] | b[i]; break;
      case TileOp::ne: out[i] = a[i] ^ b[i]; break;
      case TileOp::eq: out[i] = ~(a[i] ^ b[i]); break;
      case TileOp::where: out[i] = (a[i] & b[i]) | (~a[i] & c[i]); break;
      case TileOp::logical_not: out[i] = ~a[i]; break;
      default: assert(false && "not an operation on truth values");
    }
  }
}

template <class E>
HWY_INLINE void choose_lanes(const Operands& lanes) {
  const hn::CappedTag<E, 16> d;
  const auto* words = lanes.at<std::uint64_t>(0);
  E* const out = static_cast<E*>(lanes.out);
  for (std::size_t i = 0; i < lanes.n; i += hn::Lanes(d)) {
    const auto first = hn::Load(d, lanes.at<E>(1) + i), second = hn::Load(d, lanes.at<E>(2) + i);
    const auto mask = mask_from_bits(d, words[i / kWord] >> i % kWord);
    hn::Store(hn::IfThenElse(mask, first, second), d, out + i);
  }
}

HWY_INLINE void to_real(const std::int32_t* from, std::size_t n, float* to) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int32_t, decltype(d)> whole;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::Store(hn::ConvertTo(d, hn::Load(whole, from + i)), d, to + i);
  }
}
HWY_INLINE void to_real(const std::int32_t* from, std::size_t n, double* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

// offsets[i] = the offset of the table's element at the indices of lane i, or 0 outside of the
// table. Lanes outside are marked in `outside`.
HWY_INLINE void find_offsets(const TileTable& table, const TileNode& node, std::byte* const* at,
                             std::size_t n, std::int32_t* HWY_RESTRICT offsets,
                             std::uint64_t* outside) {
  const hn::CappedTag<std::int32_t, 16> d;
  std::uint64_t inside[kStripRows];
  std::fill_n(inside, kStripRows, ~std::uint64_t{0});
  std::fill_n(offsets, n, 0);
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    const auto* index = reinterpret_cast<const std::int32_t*>(at[node.inputs[k]]);
    const auto size = hn::Set(d, table.sizes[k]), step = hn::Set(d, table.steps[k]);
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto position = hn::Load(d, index + i);
      const auto fits = hn::AndNot(hn::VecFromMask(d, hn::Lt(position, hn::Zero(d))),
                                   hn::VecFromMask(d, hn::Lt(position, size)));
      std::uint64_t& word = inside[i / kWord];
      word &= ~(bits_of_mask(d, hn::Not(hn::MaskFromVec(fits))) << i % kWord);
      hn::Store(hn::Add(hn::Load(d, offsets + i), hn::Mul(position, step)), d, offsets + i);
    }
  }
  for (std::size_t word = 0; word < n / kWord; ++word) {
    if (~inside[word] == 0) continue;
    outside[word] = ~inside[word];
    for (std::size_t i = 0; i < kWord; ++i) {
      if ((inside[word] >> i & 1) == 0) offsets[word * kWord + i] = 0;
    }
  }
}

template <class E>
HWY_INLINE void gather(const E* data, const std::int32_t* offsets, std::size_t n, E* out) {
  if constexpr (sizeof(E) == sizeof *offsets) {
    const hn::CappedTag<E, 16> d;
    const hn::Rebind<std::int32_t, decltype(d)> whole;
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      hn::Store(hn::GatherIndex(d, data, hn::Load(whole, offsets + i)), d, out + i);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = data[offsets[i]];
  }
}

// As gather, but some lanes may be outside of the table. They get 0.
template <class Data, class Set>
HWY_INLINE void read_inside(const Data* data, const std::int32_t* offsets,
                            const std::uint64_t* outside, std::size_t n, Set set) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool misses = (outside[i / kWord] >> i % kWord & 1) != 0;
    set(i, misses ? Data(0) : data[offsets[i]]);
  }
}

template <class T>
HWY_INLINE void look_up(const TileTable& table, const TileNode& node, std::byte* const* at,
                        std::size_t n, void* out, std::uint64_t* faults) {
  HWY_ALIGN std::int32_t offsets[kStripLanes];
  std::uint64_t outside[kStripRows] = {};
  find_offsets(table, node, at, n, offsets, outside);
  std::uint64_t any = 0;
  for (std::size_t word = 0; word < n / kWord; ++word) {
    any |= outside[word];
    faults[word] |= outside[word];
  }
  const auto read = [&](const auto* data, auto* to) HWY_ATTR {
    if (any == 0) return gather(data, offsets, n, to);
    read_inside(data, offsets, outside, n, [to](std::size_t i, auto value) { to[i] = value; });
  };
  switch (node.type) {
    case TileType::real: return read(static_cast<const T*>(table.data), static_cast<T*>(out));
    case TileType::index:
      return read(static_cast<const std::int32_t*>(table.data), static_cast<std::int32_t*>(out));
    case TileType::truth: {
      auto* words = static_cast<std::uint64_t*>(out);
      std::fill_n(words, n / kWord, 0);
      read_inside(static_cast<const bool*>(table.data), offsets, outside, n,
                  [words](std::size_t i, bool value) {
                    words[i / kWord] |= std::uint64_t{value} << i % kWord;
                  });
    }
  }
}

template <class T>
HWY_INLINE void fill_constant(const TileNode& node, double number, std::size_t n, void* out) {
  switch (node.type) {
    case TileType::real: std::fill_n(static_cast<T*>(out), n, static_cast<T>(number)); break;
    case TileType::index:
      std::fill_n(static_cast<std::int32_t*>(out), n, static_cast<std::int32_t>(number));
      break;
    case TileType::truth:
      std::fill_n(static_cast<std::uint64_t*>(out), n / kWord, number != 0 ? ~std::uint64_t{0} : 0);
  }
}

HWY_INLINE void count_from(std::size_t first, std::size_t n, void* out) {
  auto* const indices = static_cast<std::int32_t*>(out);
  for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::int32_t>(first + i);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
