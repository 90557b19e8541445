/// \file
/// Scores and masks of attention as functions of their place. Such a function is a lambda that is
/// called once, with values that stand for the numbers of all places, and that note what is done
/// with them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// A value in a score or mask function: a real number of the scores' dtype, an index (int32, which
/// wraps around), or a truth value. It exists only while the function is called; Error anywhere
/// else. Operations that mix an index and a real number are on real numbers; DTypeError for those
/// that mix numbers and truth values. Functions are called without std::, whose own take no Expr.
class Expr {
 public:
  /// Constants. An integer must fit int32 (Error).
  Expr(bool value);
  template <std::integral N>
  Expr(N number)
      : Expr(whole(std::in_range<std::int64_t>(number)
                       ? static_cast<std::int64_t>(number)
                       : std::numeric_limits<std::int64_t>::max())) {}
  template <std::floating_point N>
  Expr(N number) : Expr(real(static_cast<double>(number))) {}
  Expr(char) = delete;

  /// What a function does must not depend on a value: use `where`.
  explicit operator bool() const = delete;

  Expr& operator+=(const Expr& other);
  Expr& operator-=(const Expr& other);
  Expr& operator*=(const Expr& other);
  Expr& operator/=(const Expr& other);

 private:
  friend class Trace;
  Expr(int node, std::uint64_t trace) : node_(node), trace_(trace) {}
  static Expr whole(std::int64_t number);
  static Expr real(double number);

  int node_;
  std::uint64_t trace_;  // the number of the trace that has the node
};

/// Where a score stands. `head` is the dimension before the last two of query @ key^T, `batch`
/// those before it as one; 0 where there are none.
struct Position {
  Expr batch, head, query, key;
};

///@{
/// Arithmetic. For two indices, / and % round towards negative infinity, as // and % do in Python;
/// % is for indices alone (DTypeError). Dividing an index by the index 0 is an IndexError where
/// the place is visible.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator%(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr abs(const Expr& a);
///@}

///@{
/// Functions of real numbers.
Expr exp(const Expr& a);
Expr log(const Expr& a);
Expr tanh(const Expr& a);
///@}

///@{
/// Truth values. == and != also compare those.
Expr operator==(const Expr& a, const Expr& b);
Expr operator!=(const Expr& a, const Expr& b);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr operator&&(const Expr& a, const Expr& b);
Expr operator||(const Expr& a, const Expr& b);
Expr operator!(const Expr& a);
///@}

/// a where the condition is true, else b. Both are computed.
Expr where(const Expr& condition, const Expr& a, const Expr& b);

///@{
/// min(max(a, lo), hi); a bound that is NaN changes nothing. The gradient is a's where lo <= a <=
/// hi, and elsewhere that of the bound.
Expr clamp(const Expr& a, const Expr& lo, const Expr& hi);
inline Expr clip(const Expr& a, const Expr& lo, const Expr& hi) {
  return clamp(a, lo, hi);
}
///@}

///@{
/// PyTorch's names of min, max, %, &&, ||, != of truth values, !, and a != a.
Expr minimum(const Expr& a, const Expr& b);
Expr maximum(const Expr& a, const Expr& b);
Expr remainder(const Expr& a, const Expr& b);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);
Expr logical_xor(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);
Expr isnan(const Expr& a);
///@}

///@{
/// PyTorch's operators of truth values, as &&, ||, logical_xor and ! (DTypeError for numbers). They
/// bind as C++ has it: a & (b < c) needs its parentheses.
inline Expr operator&(const Expr& a, const Expr& b) {
  return logical_and(a, b);
}
inline Expr operator|(const Expr& a, const Expr& b) {
  return logical_or(a, b);
}
inline Expr operator^(const Expr& a, const Expr& b) {
  return logical_xor(a, b);
}
inline Expr operator~(const Expr& a) {
  return logical_not(a);
}
///@}

/// What lookup() gives.
class Lookup {
 public:
  template <std::convertible_to<Expr>... Indices>
  Expr operator()(const Indices&... at) const {
    return read({Expr(at)...});
  }

 private:
  friend Lookup lookup(const Tensor& table);
  explicit Lookup(Tensor table) : table_(std::move(table)) {}
  Expr read(std::initializer_list<Expr> indices) const;

  Tensor table_;
};

/// Makes a tensor readable in score and mask functions: with `const auto table = lookup(x)`,
/// table(i, j) is an element. There are as many indices as dimensions (ShapeError) and at most 2^31
/// - 1 elements (Error). Negative indices do not count from the end: an index outside of the tensor
/// is an IndexError where the place is visible, and reads 0 or false elsewhere. Elements of an
/// int64 tensor are indices and must fit int32 (DTypeError when the function is called), those of a
/// bool tensor truth values. A floating tensor is converted to the dtype of the scores and may
/// require grad. Error for an undefined tensor.
Lookup lookup(const Tensor& table);

// What an expression does not have, so that compilers point here and do not list every overload for
// tensors. A function of an index can be read from a table.
void operator<<(const Expr&, const Expr&) = delete;
void operator>>(const Expr&, const Expr&) = delete;
void operator++(const Expr&) = delete;
void operator--(const Expr&) = delete;
void sqrt(const Expr&) = delete;
void rsqrt(const Expr&) = delete;
void cbrt(const Expr&) = delete;
void square(const Expr&) = delete;
void reciprocal(const Expr&) = delete;
void exp2(const Expr&) = delete;
void expm1(const Expr&) = delete;
void log2(const Expr&) = delete;
void log10(const Expr&) = delete;
void log1p(const Expr&) = delete;
void sin(const Expr&) = delete;
void cos(const Expr&) = delete;
void tan(const Expr&) = delete;
void asin(const Expr&) = delete;
void acos(const Expr&) = delete;
void atan(const Expr&) = delete;
void sinh(const Expr&) = delete;
void cosh(const Expr&) = delete;
void asinh(const Expr&) = delete;
void acosh(const Expr&) = delete;
void atanh(const Expr&) = delete;
void erf(const Expr&) = delete;
void erfc(const Expr&) = delete;
void erfinv(const Expr&) = delete;
void lgamma(const Expr&) = delete;
void digamma(const Expr&) = delete;
void floor(const Expr&) = delete;
void ceil(const Expr&) = delete;
void round(const Expr&) = delete;
void trunc(const Expr&) = delete;
void sign(const Expr&) = delete;
void sigmoid(const Expr&) = delete;
void logit(const Expr&) = delete;
void relu(const Expr&) = delete;
void relu6(const Expr&) = delete;
void selu(const Expr&) = delete;
void silu(const Expr&) = delete;
void gelu(const Expr&) = delete;
void mish(const Expr&) = delete;
void softplus(const Expr&) = delete;
void softsign(const Expr&) = delete;
void logsigmoid(const Expr&) = delete;
void hardsigmoid(const Expr&) = delete;
void hardswish(const Expr&) = delete;
void hardtanh(const Expr&, double = -1, double = 1) = delete;
void prelu(const Expr&, const Expr&) = delete;
void glu(const Expr&, std::int64_t = -1) = delete;
void isinf(const Expr&) = delete;
void isfinite(const Expr&) = delete;
void pow(const Expr&, const Expr&) = delete;
void atan2(const Expr&, const Expr&) = delete;
void hypot(const Expr&, const Expr&) = delete;
void fmod(const Expr&, const Expr&) = delete;
void floor_divide(const Expr&, const Expr&) = delete;
void logaddexp(const Expr&, const Expr&) = delete;
void xlogy(const Expr&, const Expr&) = delete;
void lerp(const Expr&, const Expr&, const Expr&) = delete;
void leaky_relu(const Expr&, double = 0.01) = delete;
void elu(const Expr&, double = 1) = delete;
void celu(const Expr&, double = 1) = delete;
void softmax(const Expr&, std::int64_t = -1) = delete;
void softmin(const Expr&, std::int64_t) = delete;
void gumbel_softmax(const Expr&, double = 1) = delete;
void log_softmax(const Expr&, std::int64_t = -1) = delete;
void clamp_min(const Expr&, const Expr&) = delete;
void clamp_max(const Expr&, const Expr&) = delete;

}  // namespace tend::attention
