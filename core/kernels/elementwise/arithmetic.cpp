#include <tend/core/kernels/elementwise/arithmetic.h>

#include <atomic>
#include <cmath>
#include <concepts>
#include <cstdint>

#include <tend/core/kernels/elementwise/formulas.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/elementwise/map_spans.h>
#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/arithmetic.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/lanes.h>

namespace tend::kernels {
#ifndef TEND_CORE_KERNELS_ARITHMETIC_OPS
#define TEND_CORE_KERNELS_ARITHMETIC_OPS
// Operations on vectors of floating numbers.
enum class BinaryOp { add, add_scaled, sub, mul, div, maximum, minimum };
enum class UnaryOp { neg, abs, sign };
// Kernels for runs of a StridedLoop: out = op(a, b) and out = op(a). alpha is the factor of
// add_scaled.
template <class T>
struct ArithmeticKernels {
  void (*binary)(BinaryOp op, double alpha, std::int64_t count,
                 const std::array<std::byte*, 3>& pointers,
                 const std::array<std::int64_t, 3>& steps);
  void (*unary)(UnaryOp op, std::int64_t count, const std::array<std::byte*, 2>& pointers,
                const std::array<std::int64_t, 2>& steps);
};
#endif
}  // namespace tend::kernels

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Calls use(f), where f(d, a, b) is the operation.
template <class T, class F>
HWY_INLINE void with_operation(BinaryOp op, T alpha, F use) {
  switch (op) {
    case BinaryOp::add: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
    case BinaryOp::add_scaled:
      return use([alpha](auto d, auto a, auto b)
                     HWY_ATTR { return hn::Add(a, hn::Mul(hn::Set(d, alpha), b)); });
    case BinaryOp::sub: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Sub(a, b); });
    case BinaryOp::mul: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Mul(a, b); });
    case BinaryOp::div: return use([](auto, auto a, auto b) HWY_ATTR { return hn::Div(a, b); });
    case BinaryOp::maximum:
      return use([](auto, auto a, auto b)
                     HWY_ATTR { return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b); });
    case BinaryOp::minimum:
      return use([](auto, auto a, auto b)
                     HWY_ATTR { return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b); });
  }
}

template <class T>
void run_binary(BinaryOp op, double alpha, std::int64_t count, const RunPointers<3>& p,
                const RunSteps<3>& step) {
  with_operation(op, static_cast<T>(alpha),
                 [&](auto f) HWY_ATTR { binary_run<T>(count, p, step, f); });
}

// Calls use(f), where f(d, a) is the operation.
template <class T, class F>
HWY_INLINE void with_operation(UnaryOp op, F use) {
  switch (op) {
    case UnaryOp::neg: return use([](auto, auto a) HWY_ATTR { return hn::Neg(a); });
    case UnaryOp::abs: return use([](auto, auto a) HWY_ATTR { return hn::Abs(a); });
    case UnaryOp::sign:
      return use([](auto d, auto a) HWY_ATTR {  // 0 for NaN
        const auto zero = hn::Zero(d), one = hn::Set(d, T(1));
        return hn::Sub(hn::IfThenElseZero(hn::Gt(a, zero), one),
                       hn::IfThenElseZero(hn::Lt(a, zero), one));
      });
  }
}

template <class T>
void run_unary(UnaryOp op, std::int64_t count, const RunPointers<2>& p, const RunSteps<2>& step) {
  with_operation<T>(op, [&](auto f) HWY_ATTR { unary_run<T>(count, p, step, f); });
}

const ForTypes<ArithmeticKernels>& find_arithmetic() {
  static constexpr ForTypes<ArithmeticKernels> kAll = {{run_binary<float>, run_unary<float>},
                                                       {run_binary<double>, run_unary<double>}};
  return kAll;
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_arithmetic);

// Signed overflow is undefined in C++; PyTorch's integers wrap around, as unsigned ones do.
constexpr std::uint64_t bits(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value);
}
constexpr std::int64_t wrapped(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

struct Add {
  static bool of(bool a, bool b) { return a || b; }
  static std::int64_t of(std::int64_t a, std::int64_t b) { return wrapped(bits(a) + bits(b)); }
};

struct Sub {
  static std::int64_t of(std::int64_t a, std::int64_t b) { return wrapped(bits(a) - bits(b)); }
};

struct Mul {
  static bool of(bool a, bool b) { return a && b; }
  static std::int64_t of(std::int64_t a, std::int64_t b) { return wrapped(bits(a) * bits(b)); }
};

struct Pow {
  static std::int64_t of(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return 0;
    }
    std::int64_t result = 1;
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 == 1) result = Mul::of(result, base);
      base = Mul::of(base, base);
    }
    return result;
  }
};

struct Maximum {
  template <std::integral T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};

struct Minimum {
  template <std::integral T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};

// The following operations do not branch on signs: the processor would mispredict branches on signs
// that vary.

// 1 if rounding down and rounding towards zero give different quotients, for a division by b with
// the remainder `rest`; else 0.
std::int64_t rounds_down(std::int64_t rest, std::int64_t b) {
  return (rest != 0) & ((rest ^ b) < 0);
}

// Dividing the smallest integer by -1 overflows, and traps on x86. Here it wraps around.
struct TruncDivide {
  static std::int64_t divisor(std::int64_t b) { return b == -1 ? 1 : b; }
  static std::int64_t of(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / divisor(b);
    return b == -1 ? Sub::of(0, a) : quotient;
  }
};

struct Fmod {
  static std::int64_t of(std::int64_t a, std::int64_t b) { return a % TruncDivide::divisor(b); }
};

struct Remainder {
  static std::int64_t of(std::int64_t a, std::int64_t b) {
    const std::int64_t rest = Fmod::of(a, b);
    return rest + (b & -rounds_down(rest, b));
  }
};

struct FloorDivide {
  static std::int64_t of(std::int64_t a, std::int64_t b) {
    const std::int64_t rest = Fmod::of(a, b);
    return TruncDivide::of(a, b) - rounds_down(rest, b);
  }
};

template <class Op, class T>
void apply(const Array& out, const Array& a, const Array& b) {
  map<T, T, T>(out, a, b, [](T x, T y) { return static_cast<T>(Op::of(x, y)); });
}

void run_floating(BinaryOp op, const Array& out, const Array& a, const Array& b, double alpha = 1) {
  const auto& kernels = HWY_DYNAMIC_DISPATCH(find_arithmetic)();
  const auto run = out.dtype() == float64 ? kernels.doubles.binary : kernels.floats.binary;
  StridedLoop<3>({&out, &a, &b})
      .run_elements([=](std::int64_t count, const auto& p,
                        const auto& step) { run(op, alpha, count, p, step); },
                    kStreamGrain);
}

void run_floating(UnaryOp op, const Array& out, const Array& a) {
  const auto& kernels = HWY_DYNAMIC_DISPATCH(find_arithmetic)();
  const auto run = out.dtype() == float64 ? kernels.doubles.unary : kernels.floats.unary;
  StridedLoop<2>({&out, &a})
      .run_elements(
          [=](std::int64_t count, const auto& p, const auto& step) { run(op, count, p, step); },
          kStreamGrain);
}

// Computes floating dtypes with vectors, and other dtypes with Op.
template <class Op>
void apply_any(BinaryOp op, const Array& out, const Array& a, const Array& b) {
  if (is_floating(out.dtype())) return run_floating(op, out, a, b);
  if (out.dtype() == int64) return apply<Op, std::int64_t>(out, a, b);
  apply<Op, bool>(out, a, b);
}

void check_number(std::string_view operation, DType dtype) {
  visit_number(operation, dtype, [](auto) {});
}

void check_divisor(std::string_view operation, const Array& out, const Array& b) {
  if (b.dtype() != int64 || out.numel() == 0) return;
  const Array divisors = b.contiguous();
  const std::int64_t* divisor = divisors.data<std::int64_t>();
  std::atomic<bool> found = false;
  parallel_for(0, divisors.numel(), kStreamGrain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t zeros = 0;  // counting, unlike an early exit, lets the compiler vectorise the loop
    for (std::int64_t i = begin; i < end; ++i) zeros += divisor[i] == 0 ? 1 : 0;
    if (zeros > 0) found = true;
  });
  if (found)
    fail(operation, "integer division by zero: the divisor of shape ", b.shape(), " holds a 0");
}

}  // namespace

void add(const Array& out, const Array& a, const Array& b) {
  apply_any<Add>(BinaryOp::add, out, a, b);
}

void add_scaled(const Array& out, const Array& a, const Array& b, const Scalar& alpha) {
  if (is_floating(out.dtype()))
    return run_floating(BinaryOp::add_scaled, out, a, b, alpha.to<double>());
  const auto add_typed = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T factor = alpha.to<T>();
    map<T, T, T>(out, a, b, [factor](T x, T y) { return Add::of(x, Mul::of(factor, y)); });
  };
  out.dtype() == int64 ? add_typed(TypeTag<std::int64_t>()) : add_typed(TypeTag<bool>());
}

void sub(const Array& out, const Array& a, const Array& b) {
  if (is_floating(out.dtype())) return run_floating(BinaryOp::sub, out, a, b);
  check_number("sub", out.dtype());
  apply<Sub, std::int64_t>(out, a, b);
}

void mul(const Array& out, const Array& a, const Array& b) {
  apply_any<Mul>(BinaryOp::mul, out, a, b);
}

void div(const Array& out, const Array& a, const Array& b) {
  visit_floating("div", out.dtype(), [](auto) {});  // throws if the dtype is not floating
  run_floating(BinaryOp::div, out, a, b);
}

void pow(const Array& out, const Array& a, const Array& b) {
  if (is_floating(out.dtype())) return map_floating_spans("pow", BinaryFunction::pow, out, a, b);
  check_number("pow", out.dtype());
  apply<Pow, std::int64_t>(out, a, b);
}

void maximum(const Array& out, const Array& a, const Array& b) {
  apply_any<Maximum>(BinaryOp::maximum, out, a, b);
}

void minimum(const Array& out, const Array& a, const Array& b) {
  apply_any<Minimum>(BinaryOp::minimum, out, a, b);
}

void remainder(const Array& out, const Array& a, const Array& b) {
  check_divisor("remainder", out, b);
  if (is_floating(out.dtype()))
    return map_floating_spans("remainder", BinaryFunction::remainder, out, a, b);
  check_number("remainder", out.dtype());
  apply<Remainder, std::int64_t>(out, a, b);
}

void fmod(const Array& out, const Array& a, const Array& b) {
  check_divisor("fmod", out, b);
  if (is_floating(out.dtype())) return map_floating_spans("fmod", BinaryFunction::fmod, out, a, b);
  check_number("fmod", out.dtype());
  apply<Fmod, std::int64_t>(out, a, b);
}

void floor_divide(const Array& out, const Array& a, const Array& b) {
  check_divisor("floor_divide", out, b);
  if (is_floating(out.dtype()))
    return map_floating_spans("floor_divide", BinaryFunction::floor_divide, out, a, b);
  check_number("floor_divide", out.dtype());
  apply<FloorDivide, std::int64_t>(out, a, b);
}

void trunc_divide(const Array& out, const Array& a, const Array& b) {
  check_divisor("div", out, b);
  if (is_floating(out.dtype()))
    return map_floating_spans("div", BinaryFunction::trunc_divide, out, a, b);
  check_number("div", out.dtype());
  apply<TruncDivide, std::int64_t>(out, a, b);
}

void lerp(const Array& out, const Array& a, const Array& b, const Array& weight) {
  if (weight.numel() != 1) return compute("lerp", TripleFormula::lerp, {}, out, a, b, weight);
  const double number = weight.to(float64).item<double>();
  compute("lerp", PairFormula::lerp, {number}, out, a, b);
}

void neg(const Array& out, const Array& a) {
  if (is_floating(out.dtype())) return run_floating(UnaryOp::neg, out, a);
  check_number("neg", out.dtype());
  map<std::int64_t, std::int64_t>(out, a, [](std::int64_t x) { return Sub::of(0, x); });
}

void abs(const Array& out, const Array& a) {
  if (is_floating(out.dtype())) return run_floating(UnaryOp::abs, out, a);
  check_number("abs", out.dtype());
  map<std::int64_t, std::int64_t>(out, a, [](std::int64_t x) { return x < 0 ? Sub::of(0, x) : x; });
}

void sign(const Array& out, const Array& a) {
  if (is_floating(out.dtype())) return run_floating(UnaryOp::sign, out, a);
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) { return static_cast<T>((T(0) < x) - (x < T(0))); });
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
