#include <tend/core/kernels/select.h>

#include <algorithm>
#include <limits>

#include <tend/core/kernels/loops.h>

namespace tend::kernels {
namespace {

// The mask is a matrix of bools, which broadcasts over the leading dimensions.
template <class Keep>
void keep_triangle(std::string_view operation, const Array& out, const Array& a, Keep keep) {
  if (a.rank() < 2)
    fail<ShapeError>(operation, "needs at least 2 dimensions, got shape ", a.shape());
  if (out.numel() == 0) return;  // the matrices may be large
  const std::int64_t rows = out.size(-2);
  const std::int64_t columns = out.size(-1);
  const Array hidden = Array::empty({rows, columns}, boolean);
  bool* to = hidden.data<bool>();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) *to++ = !keep(j - i);
  }
  masked_fill(out, a, hidden, 0);
}

}  // namespace

void where(const Array& out, const Array& condition, const Array& a, const Array& b) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, bool, T, T>(out, condition, a, b, [](bool c, T x, T y) { return c ? x : y; });
  });
}

void masked_fill(const Array& out, const Array& a, const Array& mask, const Scalar& value) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T filling = value.to<T>();
    map<T, T, bool>(out, a, mask, [filling](T x, bool hidden) { return hidden ? filling : x; });
  });
}

void tril(const Array& out, const Array& a, std::int64_t diagonal) {
  keep_triangle("tril", out, a, [diagonal](std::int64_t above) { return above <= diagonal; });
}

void triu(const Array& out, const Array& a, std::int64_t diagonal) {
  keep_triangle("triu", out, a, [diagonal](std::int64_t above) { return above >= diagonal; });
}

void clamp(const Array& out, const Array& a, const std::optional<Scalar>& lo,
           const std::optional<Scalar>& hi) {
  if (!lo && !hi) fail("clamp", "needs a lower or an upper bound");
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T low = lo ? lo->to<T>() : T();
    const T high = hi ? hi->to<T>() : T();
    const bool has_low = lo.has_value();
    const bool has_high = hi.has_value();
    map<T, T>(out, a, [=](T x) {
      if (has_low) x = x > low || x != x ? x : low;
      if (has_high) x = x < high || x != x ? x : high;
      return x;
    });
  });
}

void nan_to_num(const Array& out, const Array& a, double nan, double posinf, double neginf) {
  visit_floating("nan_to_num", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const T for_nan = convert<T>(nan), for_inf = convert<T>(posinf), for_minus = convert<T>(neginf);
    map<T, T>(out, a, [=](T x) {
      if (x != x) return for_nan;
      return x == kInfinity ? for_inf : x == -kInfinity ? for_minus : x;
    });
  });
}

std::int64_t count_nonzero(const Array& mask) {
  const bool* first = mask.data<bool>();
  return std::count(first, first + mask.numel(), true);
}

void nonzero(const Array& out, const Array& mask) {
  const bool* hit = mask.data<bool>();
  const std::int64_t rank = mask.rank();
  auto* to = out.data<std::int64_t>();
  for (std::int64_t i = 0; i < mask.numel(); ++i) {
    if (!hit[i]) continue;
    std::int64_t rest = i;
    for (std::int64_t d = rank; d-- > 0; rest /= mask.shape()[d]) to[d] = rest % mask.shape()[d];
    to += rank;
  }
}

}  // namespace tend::kernels
