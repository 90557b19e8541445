#include <tend/core/kernels/elementwise/compare.h>

#include <cmath>
#include <concepts>
#include <functional>

#include <tend/core/kernels/elementwise/loops.h>

namespace tend::kernels {
namespace {

template <class Op>
void compare(Op op, const Array& out, const Array& a, const Array& b) {
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<bool, T, T>(out, a, b, op);
  });
}

template <class Op>
void test(Op op, const Array& out, const Array& a) {
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<bool, T>(out, a, op);
  });
}

// Tests a property of floating numbers; for integers and bools the result is `otherwise`.
template <class Op>
void test_floating(Op op, bool otherwise, const Array& out, const Array& a) {
  test(
      [op, otherwise]<class T>(T x) {
        if constexpr (std::floating_point<T>)
          return op(x);
        else
          return otherwise;
      },
      out, a);
}

// Calls f(TypeTag<T>{}) for bool and int64.
template <class F>
void visit_bits(std::string_view operation, DType dtype, F f) {
  if (is_floating(dtype)) fail<DTypeError>(operation, "needs bool or int64, got ", dtype);
  if (dtype == boolean) return f(TypeTag<bool>{});
  f(TypeTag<std::int64_t>{});
}

template <class Op>
void bitwise(std::string_view operation, Op op, const Array& out, const Array& a, const Array& b) {
  visit_bits(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T>(out, a, b, [op](T x, T y) { return static_cast<T>(op(x, y)); });
  });
}

constexpr auto kTruth = [](auto x) { return convert<bool>(x); };

}  // namespace

void eq(const Array& out, const Array& a, const Array& b) {
  compare(std::equal_to<>(), out, a, b);
}
void ne(const Array& out, const Array& a, const Array& b) {
  compare(std::not_equal_to<>(), out, a, b);
}
void lt(const Array& out, const Array& a, const Array& b) {
  compare(std::less<>(), out, a, b);
}
void le(const Array& out, const Array& a, const Array& b) {
  compare(std::less_equal<>(), out, a, b);
}
void gt(const Array& out, const Array& a, const Array& b) {
  compare(std::greater<>(), out, a, b);
}
void ge(const Array& out, const Array& a, const Array& b) {
  compare(std::greater_equal<>(), out, a, b);
}

void logical_and(const Array& out, const Array& a, const Array& b) {
  compare([](auto x, auto y) { return kTruth(x) & kTruth(y); }, out, a, b);
}
void logical_or(const Array& out, const Array& a, const Array& b) {
  compare([](auto x, auto y) { return kTruth(x) | kTruth(y); }, out, a, b);
}
void logical_xor(const Array& out, const Array& a, const Array& b) {
  compare([](auto x, auto y) { return kTruth(x) != kTruth(y); }, out, a, b);
}
void logical_not(const Array& out, const Array& a) {
  test([](auto x) { return !kTruth(x); }, out, a);
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
  visit_bits("bitwise_not", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) {
      if constexpr (std::same_as<T, bool>)
        return !x;
      else
        return ~x;
    });
  });
}

void isnan(const Array& out, const Array& a) {
  test_floating([](auto x) { return std::isnan(x); }, false, out, a);
}
void isinf(const Array& out, const Array& a) {
  test_floating([](auto x) { return std::isinf(x); }, false, out, a);
}
void isfinite(const Array& out, const Array& a) {
  test_floating([](auto x) { return std::isfinite(x); }, true, out, a);
}

}  // namespace tend::kernels
