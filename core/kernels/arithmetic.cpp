#include <tend/core/kernels/arithmetic.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

#include <tend/core/kernels/loops.h>

namespace tend::kernels {
namespace {

// Signed overflow is undefined in C++; PyTorch's integers wrap around, as unsigned ones do.
template <class T>
concept Integer = std::same_as<T, std::int64_t>;

constexpr std::uint64_t bits(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value);
}
constexpr std::int64_t wrapped(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

struct Add {
  static bool of(bool a, bool b) { return a || b; }
  static std::int64_t of(std::int64_t a, std::int64_t b) { return wrapped(bits(a) + bits(b)); }
  template <std::floating_point T>
  static T of(T a, T b) {
    return a + b;
  }
};

struct Sub {
  static std::int64_t of(std::int64_t a, std::int64_t b) { return wrapped(bits(a) - bits(b)); }
  template <std::floating_point T>
  static T of(T a, T b) {
    return a - b;
  }
};

struct Mul {
  static bool of(bool a, bool b) { return a && b; }
  static std::int64_t of(std::int64_t a, std::int64_t b) { return wrapped(bits(a) * bits(b)); }
  template <std::floating_point T>
  static T of(T a, T b) {
    return a * b;
  }
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
  template <std::floating_point T>
  static T of(T a, T b) {
    return std::pow(a, b);
  }
};

struct Maximum {
  template <class T>
  static T of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

struct Minimum {
  template <class T>
  static T of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

// The smallest integer divided by -1 overflows, and traps on x86: -1 is its own case.
struct Remainder {
  static std::int64_t of(std::int64_t a, std::int64_t b) {
    if (b == -1) return 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  template <std::floating_point T>
  static T of(T a, T b) {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

struct Fmod {
  static std::int64_t of(std::int64_t a, std::int64_t b) { return b == -1 ? 0 : a % b; }
  template <std::floating_point T>
  static T of(T a, T b) {
    return std::fmod(a, b);
  }
};

struct FloorDivide {
  static std::int64_t of(std::int64_t a, std::int64_t b) {
    if (b == -1) return Sub::of(0, a);
    const std::int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  }
  // floor(a / b) would be one too large where a / b rounds up to an integer; a less its remainder
  // is a multiple of b, up to rounding, which the last step removes.
  template <std::floating_point T>
  static T of(T a, T b) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    return quotient == 0 ? std::copysign(T(0), a / b) : std::round(quotient);
  }
};

template <class T, class Op>
void apply(Op, const Array& out, const Array& a, const Array& b) {
  map<T, T, T>(out, a, b, [](T x, T y) { return static_cast<T>(Op::of(x, y)); });
}

void check_divisor(std::string_view operation, const Array& out, const Array& b) {
  if (b.dtype() != int64 || out.numel() == 0) return;
  const Array divisors = b.contiguous();
  const std::int64_t* first = divisors.data<std::int64_t>();
  if (std::find(first, first + divisors.numel(), 0) != first + divisors.numel())
    fail(operation, "integer division by zero: the divisor of shape ", b.shape(), " holds a 0");
}

}  // namespace

void add(const Array& out, const Array& a, const Array& b) {
  visit_dtype(out.dtype(),
              [&](auto tag) { apply<typename decltype(tag)::type>(Add{}, out, a, b); });
}

void add_scaled(const Array& out, const Array& a, const Array& b, double alpha) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T factor = convert<T>(alpha);
    map<T, T, T>(out, a, b, [factor](T x, T y) { return Add::of(x, Mul::of(factor, y)); });
  });
}

void sub(const Array& out, const Array& a, const Array& b) {
  visit_number("sub", out.dtype(),
               [&](auto tag) { apply<typename decltype(tag)::type>(Sub{}, out, a, b); });
}

void mul(const Array& out, const Array& a, const Array& b) {
  visit_dtype(out.dtype(),
              [&](auto tag) { apply<typename decltype(tag)::type>(Mul{}, out, a, b); });
}

void div(const Array& out, const Array& a, const Array& b) {
  visit_floating("div", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T>(out, a, b, [](T x, T y) { return x / y; });
  });
}

void pow(const Array& out, const Array& a, const Array& b) {
  visit_number("pow", out.dtype(),
               [&](auto tag) { apply<typename decltype(tag)::type>(Pow{}, out, a, b); });
}

void maximum(const Array& out, const Array& a, const Array& b) {
  visit_dtype(out.dtype(),
              [&](auto tag) { apply<typename decltype(tag)::type>(Maximum{}, out, a, b); });
}

void minimum(const Array& out, const Array& a, const Array& b) {
  visit_dtype(out.dtype(),
              [&](auto tag) { apply<typename decltype(tag)::type>(Minimum{}, out, a, b); });
}

void remainder(const Array& out, const Array& a, const Array& b) {
  check_divisor("remainder", out, b);
  visit_number("remainder", out.dtype(),
               [&](auto tag) { apply<typename decltype(tag)::type>(Remainder{}, out, a, b); });
}

void fmod(const Array& out, const Array& a, const Array& b) {
  check_divisor("fmod", out, b);
  visit_number("fmod", out.dtype(),
               [&](auto tag) { apply<typename decltype(tag)::type>(Fmod{}, out, a, b); });
}

void floor_divide(const Array& out, const Array& a, const Array& b) {
  check_divisor("floor_divide", out, b);
  visit_number("floor_divide", out.dtype(),
               [&](auto tag) { apply<typename decltype(tag)::type>(FloorDivide{}, out, a, b); });
}

void lerp(const Array& out, const Array& a, const Array& b, const Array& weight) {
  visit_floating("lerp", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T, T>(out, a, b, weight, [](T x, T y, T w) {
      return std::abs(w) < T(0.5) ? x + w * (y - x) : y - (y - x) * (1 - w);
    });
  });
}

void neg(const Array& out, const Array& a) {
  visit_number("neg", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) {
      if constexpr (Integer<T>)
        return Sub::of(0, x);
      else
        return -x;
    });
  });
}

void abs(const Array& out, const Array& a) {
  visit_number("abs", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) {
      if constexpr (Integer<T>)
        return x < 0 ? Sub::of(0, x) : x;
      else
        return std::abs(x);
    });
  });
}

void sign(const Array& out, const Array& a) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) { return static_cast<T>((T(0) < x) - (x < T(0))); });
  });
}

}  // namespace tend::kernels
