// The operations of reductions; see Accumulator in reduce_loop.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tend/core/array/scalar.h>

namespace tend::kernels {

// int64 wraps around, as in PyTorch: its sums are computed in unsigned integers.
template <class T>
using Total = std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t>;

template <class Acc>
struct Sum {
  static constexpr Acc identity() { return 0; }
  template <class T>
  static Acc load(T x) {
    return static_cast<Acc>(x);
  }
  static Acc combine(Acc a, Acc b) { return a + b; }
};

// The sum of floating numbers, each converted to int64.
struct WholeSum : Sum<std::uint64_t> {
  template <class T>
  static std::uint64_t load(T x) {
    return static_cast<std::uint64_t>(convert<std::int64_t>(x));
  }
};

template <class T>
struct SquareSum : Sum<T> {
  static T load(T x) { return x * x; }
};

template <class T>
struct AbsoluteSum : Sum<T> {
  static T load(T x) { return x < 0 ? -x : x; }
};

// The number of elements that are not zero.
template <class T>
struct NonzeroCount : Sum<T> {
  static T load(T x) { return x != 0 ? T(1) : T(0); }
};

// The sum in which NaN counts as 0.
template <class Acc>
struct NumberSum : Sum<Acc> {
  template <class T>
  static Acc load(T x) {
    return x != x ? Acc(0) : static_cast<Acc>(x);
  }
};

template <class Acc>
struct Product {
  static constexpr Acc identity() { return 1; }
  template <class T>
  static Acc load(T x) {
    return static_cast<Acc>(x);
  }
  static Acc combine(Acc a, Acc b) { return a * b; }
};

// Truth values are numbers as wide as the elements, so that vectors of both have the same number of
// lanes.
template <class T>
using Truth = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                 std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>>;

// Any and All use | and & instead of || and &&, so that compilers vectorise the loops.
template <class Acc>
struct Any {
  static constexpr Acc identity() { return 0; }
  template <class T>
  static Acc load(T x) {
    return x != T(0);
  }
  static Acc combine(Acc a, Acc b) { return static_cast<Acc>(a | b); }
};

template <class Acc>
struct All {
  static constexpr Acc identity() { return 1; }
  template <class T>
  static Acc load(T x) {
    return x != T(0);
  }
  static Acc combine(Acc a, Acc b) { return static_cast<Acc>(a & b); }
};

// If an element is NaN, the result is NaN: every comparison with NaN is false.
template <class Acc, bool kLargest>
struct Extreme {
  static constexpr bool kExact = true;
  static constexpr Acc identity() {
    using Limits = std::numeric_limits<Acc>;
    if constexpr (std::is_floating_point_v<Acc>) {
      return kLargest ? -Limits::infinity() : Limits::infinity();
    } else {
      return kLargest ? Limits::lowest() : Limits::max();
    }
  }
  static Acc load(Acc x) { return x; }
  static Acc combine(Acc a, Acc b) {
    const Acc best = (kLargest ? b <= a : b >= a) ? a : b;
    if constexpr (std::is_floating_point_v<Acc>) return a != a ? a : best;
    return best;
  }
};

// The extreme of the absolute values. NaN is handled as in Extreme.
template <class T, bool kLargest>
struct ExtremeMagnitude : Extreme<T, kLargest> {
  static constexpr T identity() { return kLargest ? T(0) : std::numeric_limits<T>::infinity(); }
  static T load(T x) { return std::abs(x); }
};

template <class T>
using LargestMagnitude = ExtremeMagnitude<T, true>;
template <class T>
using SmallestMagnitude = ExtremeMagnitude<T, false>;

template <class Acc>
using Largest = Extreme<Acc, true>;
template <class Acc>
using Smallest = Extreme<Acc, false>;

}  // namespace tend::kernels
