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
  // There is no conversion to bool: what a function does must not depend on a value. Use `where`.

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

}  // namespace tend::attention
