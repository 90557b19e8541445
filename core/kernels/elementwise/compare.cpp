#include <tend/core/kernels/elementwise/compare.h>

#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include <tend/core/kernels/elementwise/loops.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/compare.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/lanes.h>
#include <tend/core/kernels/simd/mask_bits.h>

namespace tend::kernels {
#ifndef TEND_CORE_KERNELS_COMPARE_OPS
#define TEND_CORE_KERNELS_COMPARE_OPS
enum class Comparison { eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_xor };
enum class Test { logical_not, isnan, isinf, isfinite };
using ComparisonRun = void (*)(Comparison op, std::int64_t count,
                               const std::array<std::byte*, 3>& pointers,
                               const std::array<std::int64_t, 3>& steps);
using TestRun = void (*)(Test op, std::int64_t count, const std::array<std::byte*, 2>& pointers,
                         const std::array<std::int64_t, 2>& steps);
#endif
}  // namespace tend::kernels

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// Bools are 0 or 1, and are compared as int8.
template <class T>
using LaneOf = std::conditional_t<std::is_same_v<T, bool>, std::int8_t, T>;

// Writes one bool for each of 64 bits.
HWY_INLINE void store_bools(std::uint64_t bits, std::byte* to) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t i = 0; i < 64; i += lanes) {
    hn::StoreU(hn::IfThenElseZero(mask_from_bits(d, bits >> i), hn::Set(d, 1)), d, bytes + i);
  }
}

template <class D>
HWY_INLINE std::uint64_t bits_from_mask(D d, hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, 8);
  return bits;
}

// out[i] = f(d, a.at(i)...), where f returns a mask.
template <class T, class F, class... Operands>
HWY_INLINE void fill_bools(std::size_t n, std::byte* out, F f, Operands... a) {
  const hn::CappedTag<T, 64> d;
  const hn::CappedTag<T, 1> one;
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    std::uint64_t bits = 0;
    for (std::size_t j = 0; j < 64; j += hn::Lanes(d)) {
      bits |= bits_from_mask(d, f(d, a.at(d, i + j)...)) << j;
    }
    store_bools(bits, out + i);
  }
  // This loop does not use AllTrue. On ARM, GCC 12 compiles AllTrue of a single double wrongly:
  // 0 && 0 was true.
  for (; i < n; ++i) out[i] = std::byte(bits_from_mask(one, f(one, a.at(one, i)...)) & 1);
}

template <class T, class F>
HWY_INLINE void test_run(std::int64_t count, RunPointers<2> p, const RunSteps<2>& step, F f) {
  const Neighbours<T> a{reinterpret_cast<const T*>(p[1])};
  if (step[0] == 1 && step[1] == sizeof(T)) {
    return fill_bools<T>(static_cast<std::size_t>(count), p[0], f, a);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    fill_bools<T>(1, p[0] + i * step[0], f,
                  Neighbours<T>{reinterpret_cast<const T*>(p[1] + i * step[1])});
  }
}

template <class T, class F>
HWY_INLINE void comparison_run(std::int64_t count, const RunPointers<3>& p, const RunSteps<3>& step,
                               F f) {
  const auto n = static_cast<std::size_t>(count);
  constexpr std::int64_t kNext = sizeof(T);
  const Neighbours<T> a{reinterpret_cast<const T*>(p[1])}, b{reinterpret_cast<const T*>(p[2])};
  if (step[0] == 1 && step[1] == kNext && step[2] == kNext) {
    return fill_bools<T>(n, p[0], f, a, b);
  }
  if (step[0] == 1 && step[1] == kNext && step[2] == 0) {
    return fill_bools<T>(n, p[0], f, a, Constant<T>{*b.first});
  }
  if (step[0] == 1 && step[1] == 0 && step[2] == kNext) {
    return fill_bools<T>(n, p[0], f, Constant<T>{*a.first}, b);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    fill_bools<T>(1, p[0] + i * step[0], f,
                  Neighbours<T>{reinterpret_cast<const T*>(p[1] + i * step[1])},
                  Neighbours<T>{reinterpret_cast<const T*>(p[2] + i * step[2])});
  }
}

// True where x is 0. NaN is not 0.
template <class D, class V>
HWY_INLINE hn::Mask<D> is_false(D d, V x) {
  return hn::Eq(x, hn::Zero(d));
}

// Calls use(f), where f(d, a, b) is the comparison.
template <class F>
HWY_INLINE void with_comparison(Comparison op, F use) {
  switch (op) {
    case Comparison::eq: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Eq(a, b); });
    case Comparison::ne:
      return use([](auto, auto a, auto b) HWY_ATTR { return hn::Not(hn::Eq(a, b)); });
    case Comparison::lt: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Lt(a, b); });
    case Comparison::gt: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Gt(a, b); });
    // le and ge do not use Le, which vectors of integers lack. Both are false for NaN.
    case Comparison::le:
      return use([](auto, auto a, auto b) HWY_ATTR { return hn::Or(hn::Lt(a, b), hn::Eq(a, b)); });
    case Comparison::ge:
      return use([](auto, auto a, auto b) HWY_ATTR { return hn::Or(hn::Gt(a, b), hn::Eq(a, b)); });
    case Comparison::logical_and:
      return use([](auto d, auto a, auto b)
                     HWY_ATTR { return hn::Not(hn::Or(is_false(d, a), is_false(d, b))); });
    case Comparison::logical_or:
      return use([](auto d, auto a, auto b)
                     HWY_ATTR { return hn::Not(hn::And(is_false(d, a), is_false(d, b))); });
    case Comparison::logical_xor:
      return use([](auto d, auto a, auto b)
                     HWY_ATTR { return hn::Xor(is_false(d, a), is_false(d, b)); });
  }
}

template <class T>
void run_comparison(Comparison op, std::int64_t count, const RunPointers<3>& p,
                    const RunSteps<3>& step) {
  with_comparison(op, [&](auto f) HWY_ATTR { comparison_run<T>(count, p, step, f); });
}

ComparisonRun find_comparison(DType dtype) {
  return visit_dtype(dtype, [](auto tag) -> ComparisonRun {
    return run_comparison<LaneOf<typename decltype(tag)::type>>;
  });
}

// For integers, this function is called only with logical_not.
template <class T>
void run_test(Test op, std::int64_t count, const RunPointers<2>& p, const RunSteps<2>& step) {
  const auto use = [&](auto f) HWY_ATTR { test_run<T>(count, p, step, f); };
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    switch (op) {
      case Test::logical_not: break;
      case Test::isnan: return use([](auto, auto x) HWY_ATTR { return hn::Not(hn::Eq(x, x)); });
      case Test::isinf:
        return use([](auto d, auto x)
                       HWY_ATTR { return hn::Eq(hn::Abs(x), hn::Set(d, kInfinity)); });
      case Test::isfinite:
        return use([](auto d, auto x)
                       HWY_ATTR { return hn::Lt(hn::Abs(x), hn::Set(d, kInfinity)); });
    }
  }
  use([](auto d, auto x) HWY_ATTR { return is_false(d, x); });
}

TestRun find_test(DType dtype) {
  return visit_dtype(
      dtype, [](auto tag) -> TestRun { return run_test<LaneOf<typename decltype(tag)::type>>; });
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_comparison);
HWY_EXPORT(find_test);

void compare(Comparison op, const Array& out, const Array& a, const Array& b) {
  const ComparisonRun run = HWY_DYNAMIC_DISPATCH(find_comparison)(a.dtype());
  StridedLoop<3>({&out, &a, &b})
      .run_elements(
          [=](std::int64_t count, const auto& p, const auto& step) { run(op, count, p, step); });
}

void test(Test op, const Array& out, const Array& a) {
  const TestRun run = HWY_DYNAMIC_DISPATCH(find_test)(a.dtype());
  StridedLoop<2>({&out, &a}).run_elements([=](std::int64_t count, const auto& p, const auto& step) {
    run(op, count, p, step);
  });
}

// Tests a property of floating numbers. For integers and bools every result is `otherwise`.
void test_floating(Test op, bool otherwise, const Array& out, const Array& a) {
  if (is_floating(a.dtype())) return test(op, out, a);
  out.fill(otherwise);
}

// Calls f(TypeTag<T>{}) for int64 and bool. T is uint8 for bool, whose bytes are 0 or 1.
template <class F>
void visit_bits(std::string_view operation, DType dtype, F f) {
  if (is_floating(dtype)) fail<DTypeError>(operation, "needs bool or int64, got ", dtype);
  if (dtype == boolean) return f(TypeTag<std::uint8_t>{});
  f(TypeTag<std::int64_t>{});
}

template <class Op>
void bitwise(std::string_view operation, Op op, const Array& out, const Array& a, const Array& b) {
  visit_bits(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T>(out, a, b, [op](T x, T y) { return static_cast<T>(op(x, y)); });
  });
}

}  // namespace

void eq(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::eq, out, a, b);
}
void ne(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::ne, out, a, b);
}
void lt(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::lt, out, a, b);
}
void le(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::le, out, a, b);
}
void gt(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::gt, out, a, b);
}
void ge(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::ge, out, a, b);
}

void logical_and(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::logical_and, out, a, b);
}
void logical_or(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::logical_or, out, a, b);
}
void logical_xor(const Array& out, const Array& a, const Array& b) {
  compare(Comparison::logical_xor, out, a, b);
}
void logical_not(const Array& out, const Array& a) {
  test(Test::logical_not, out, a);
}

void bitwise_and(const Array& out, const Array& a, const Array& b) {
  bitwise("bitwise_and", std::bit_and<>(), out, a, b);
}
void bitwise_or(const Array& out, const Array& a, const Array& b) {
  bitwise("bitwise_or", std::bit_or<>(), out, a, b);
}
void bitwise_xor(const Array& out, const Array& a, const Array& b) {
  bitwise("bitwise_xor", std::bit_xor<>(), out, a, b);
}
void bitwise_not(const Array& out, const Array& a) {
  if (out.dtype() == boolean) return logical_not(out, a);
  visit_bits("bitwise_not", out.dtype(), [&](auto) {
    map<std::int64_t, std::int64_t>(out, a, [](std::int64_t x) { return ~x; });
  });
}

void isnan(const Array& out, const Array& a) {
  test_floating(Test::isnan, false, out, a);
}
void isinf(const Array& out, const Array& a) {
  test_floating(Test::isinf, false, out, a);
}
void isfinite(const Array& out, const Array& a) {
  test_floating(Test::isfinite, true, out, a);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
