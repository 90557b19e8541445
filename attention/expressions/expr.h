/// \file
/// Scores and masks of attention as functions of batch, head, query and key. Such a function is a
/// lambda. The lambda is called once, with symbolic values instead of numbers. The symbolic values
/// record the operations that the lambda applies to them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// A symbolic value in a score or mask function.
///
/// A value is a real number of the scores' dtype, an index (int32, which wraps around), or a truth
/// value. It exists only while the function is called. If an operation has an index and a real
/// number, it converts the index to a real number. Write exp(x) and not std::exp(x): the functions
/// of std do not accept an Expr.
///
/// Throws:
///   Error      - a value is used after the call of its function, or outside of any function
///   DTypeError - an operation mixes numbers and truth values
class Expr {
 public:
  /// Constants.
  ///
  /// Throws: Error - an integer does not fit int32
  Expr(bool value);
  template <std::integral N>
  Expr(N number)
      : Expr(whole(std::in_range<std::int64_t>(number)
                       ? static_cast<std::int64_t>(number)
                       : std::numeric_limits<std::int64_t>::max())) {}
  template <std::floating_point N>
  Expr(N number) : Expr(real(static_cast<double>(number))) {}
  // There is no conversion to bool: the lambda is called only once, so it cannot branch on a value.
  // Use `where`.

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
  std::uint64_t trace_;  // identifies the Trace that has the node
};

/// The position of a score. `head` is the index in dimension -3 of the scores. `batch` is the index
/// into the dimensions before -3, flattened. An index is 0 if its dimensions do not exist.
struct Position {
  Expr batch, head, query, key;
};

///@{
/// Arithmetic. For two indices, / and % round towards negative infinity, as // and % do in Python.
///
/// Throws:
///   DTypeError - an operand of % is not an index, or another operand is a truth value
///   IndexError - in flex_attention, an index is divided by the index 0 at a visible position
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
/// Functions of real numbers. An index is converted to a real number.
Expr exp(const Expr& a);
Expr log(const Expr& a);
Expr tanh(const Expr& a);
///@}

///@{
/// Comparisons of numbers, and logic of truth values. == and != also compare two truth values.
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

/// a where the condition is true, otherwise b. Both are computed.
Expr where(const Expr& condition, const Expr& a, const Expr& b);

///@{
/// min(max(a, lo), hi); a bound that is NaN has no effect. The gradient goes to a where lo <= a <=
/// hi, and otherwise to the bound.
Expr clamp(const Expr& a, const Expr& lo, const Expr& hi);
inline Expr clip(const Expr& a, const Expr& lo, const Expr& hi) {
  return clamp(a, lo, hi);
}
///@}

///@{
/// PyTorch's names of min, max, %, &&, ||, != of truth values, ! and a != a, in this order.
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
/// PyTorch's operators of truth values: &&, ||, logical_xor and !, in this order. They have the
/// precedence of C++, not of Python: a & b < c is a & (b < c).
///
/// Throws: DTypeError - an operand is a number
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

/// A tensor that score and mask functions can read; the result of lookup().
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

/// Makes a tensor readable in score and mask functions.
///
/// After `const auto table = lookup(x)`, table(i, j) is an element of x. There must be one index
/// for each dimension. Negative indices do not count from the end. At hidden positions, an index
/// outside of the tensor reads 0 or false.
///
/// Elements of an int64 tensor are indices, and elements of a bool tensor are truth values. A
/// floating tensor is converted to the dtype of the scores, and may require grad.
///
/// Throws:
///   Error      - the tensor is undefined
///   Error      - in the function, the tensor has more than 2^31 - 1 elements
///   ShapeError - in the function, there are fewer or more indices than dimensions
///   DTypeError - in the function, an element of an int64 tensor does not fit int32
///   DTypeError - in the function, an index is a real number or a truth value
///   IndexError - in flex_attention, an index is outside of the tensor at a visible position
Lookup lookup(const Tensor& table);

}  // namespace tend::attention
