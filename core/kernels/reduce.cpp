#include <tend/core/kernels/reduce.h>

#include <cmath>
#include <limits>

#include <tend/core/kernels/copy.h>
#include <tend/core/kernels/loops.h>
#include <tend/core/kernels/reduce_loop.h>

namespace tend::kernels {
namespace {

// int64 wraps around, as in PyTorch: its sums are kept without a sign.
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

template <class Acc>
struct Product {
  static constexpr Acc identity() { return 1; }
  template <class T>
  static Acc load(T x) {
    return static_cast<Acc>(x);
  }
  static Acc combine(Acc a, Acc b) { return a * b; }
};

// Not || and &&: the loops are to be vectorised.
struct Any {
  static constexpr std::uint8_t identity() { return 0; }
  template <class T>
  static std::uint8_t load(T x) {
    return x != T(0);
  }
  static std::uint8_t combine(std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(a | b);
  }
};

struct All {
  static constexpr std::uint8_t identity() { return 1; }
  template <class T>
  static std::uint8_t load(T x) {
    return x != T(0);
  }
  static std::uint8_t combine(std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(a & b);
  }
};

// NaN, once met, stays: nothing compares with it.
template <class Acc, bool kLargest>
struct Extreme {
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
    bool better = kLargest ? b > a : b < a;
    if constexpr (std::is_floating_point_v<Acc>) better |= b != b;
    return better ? b : a;
  }
};

template <template <class> class Op>
void accumulate(const char* name, const Array& out, const Array& a, const Shape& dims) {
  if (out.dtype() != sum_dtype(a.dtype())) {
    fail<DTypeError>(name, a.dtype(), " gives ", sum_dtype(a.dtype()), ", not ", out.dtype());
  }
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Out = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    reduce<Op<Total<T>>, T, Out>(out, a, dims);
  });
}

template <class Op>
void test(const char* name, const Array& out, const Array& a, const Shape& dims) {
  if (out.dtype() != boolean) fail<DTypeError>(name, "gives bool, not ", out.dtype());
  visit_dtype(a.dtype(),
              [&](auto tag) { reduce<Op, typename decltype(tag)::type, bool>(out, a, dims); });
}

std::int64_t reduced_count(const Array& a, const Shape& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= a.shape()[d];
  return count;
}

template <bool kLargest>
void extreme(const char* name, const Array& out, const Array& a, const Shape& dims) {
  if (out.dtype() != a.dtype()) {
    fail<DTypeError>(name, a.dtype(), " gives ", a.dtype(), ", not ", out.dtype());
  }
  for (const std::int64_t d : dims) {
    if (a.shape()[d] == 0) fail<ShapeError>(name, "dimension ", d, " of ", a.shape(), " is empty");
  }
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      reduce<std::conditional_t<kLargest, Any, All>, bool, bool>(out, a, dims);
    } else {
      reduce<Extreme<T, kLargest>, T, T>(out, a, dims);
    }
  });
}

}  // namespace

void sum(const Array& out, const Array& a, const Shape& dims) {
  accumulate<Sum>("sum", out, a, dims);
}

void prod(const Array& out, const Array& a, const Shape& dims) {
  accumulate<Product>("prod", out, a, dims);
}

void mean(const Array& out, const Array& a, const Shape& dims) {
  visit_floating("mean", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    sum(out, a, dims);
    const T count = static_cast<T>(reduced_count(a, dims));
    map<T, T>(out, out, [count](T total) { return total / count; });
  });
}

namespace {

template <class T, class Out>
void var_typed(const Array& out, const Array& a, const Shape& dims, double correction) {
  // In float32 a mean far from zero would be too coarse to measure distances from.
  const Array middle = Array::empty(reduced_shape(a.shape(), dims, true), float64);
  const double total = static_cast<double>(reduced_count(a, dims));
  reduce<Sum<double>, T, double>(middle, a, dims);
  const Array squares = Array::empty(a.shape(), out.dtype());
  map<Out, T, double>(squares, a, middle, [total](T x, double sum_of_all) {
    const double distance = static_cast<double>(x) - sum_of_all / total;
    return static_cast<Out>(distance * distance);
  });
  sum(out, squares, dims);
  const Out freedom = static_cast<Out>(std::max(0.0, total - correction));
  map<Out, Out>(out, out, [freedom](Out sum_of_squares) { return sum_of_squares / freedom; });
}

}  // namespace

void var(const Array& out, const Array& a, const Shape& dims, double correction) {
  visit_floating("var", a.dtype(), [&](auto from) {
    visit_floating("var", out.dtype(), [&](auto to) {
      var_typed<typename decltype(from)::type, typename decltype(to)::type>(out, a, dims,
                                                                            correction);
    });
  });
}

void any(const Array& out, const Array& a, const Shape& dims) {
  test<Any>("any", out, a, dims);
}

void all(const Array& out, const Array& a, const Shape& dims) {
  test<All>("all", out, a, dims);
}

void amax(const Array& out, const Array& a, const Shape& dims) {
  extreme<true>("amax", out, a, dims);
}

void amin(const Array& out, const Array& a, const Shape& dims) {
  extreme<false>("amin", out, a, dims);
}

}  // namespace tend::kernels
