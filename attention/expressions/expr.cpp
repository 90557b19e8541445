#include <tend/attention/expressions/expr.h>

#include <tend/attention/expressions/trace.h>

namespace tend::attention {
namespace {

using kernels::TileOp;
using kernels::TileType;

TileType type_of(const Expr& value) {
  return Trace::current().type_of(value);
}

void check_number(const Expr& a) {
  if (type_of(a) == TileType::truth) {
    fail<DTypeError>(kExpression, "needs a number, got a truth value; `where` converts it");
  }
}

void check_truth(const Expr& a) {
  if (type_of(a) != TileType::truth) {
    fail<DTypeError>(kExpression,
                     "needs a truth value, got a number; a comparison gives a truth value");
  }
}

/// Two numbers, converted to the same type.
struct Pair {
  Expr a, b;
  TileType type = TileType::index;

  Pair(const Expr& first, const Expr& second) : a(first), b(second) {
    check_number(a);
    check_number(b);
    if (type_of(a) == type_of(b)) {
      type = type_of(a);
      return;
    }
    type = TileType::real;
    a = Trace::current().to_real(a);
    b = Trace::current().to_real(b);
  }
};

Expr arithmetic(TileOp op, const Expr& a, const Expr& b) {
  const Pair pair(a, b);
  return Trace::current().add(op, pair.type, {pair.a, pair.b});
}

Expr comparison(TileOp op, const Expr& a, const Expr& b) {
  const Pair pair(a, b);
  return Trace::current().add(op, TileType::truth, {pair.a, pair.b});
}

Expr equality(TileOp op, const Expr& a, const Expr& b) {
  if (type_of(a) == TileType::truth && type_of(b) == TileType::truth) {
    return Trace::current().add(op, TileType::truth, {a, b});
  }
  return comparison(op, a, b);
}

Expr logic(TileOp op, const Expr& a, const Expr& b) {
  check_truth(a);
  check_truth(b);
  return Trace::current().add(op, TileType::truth, {a, b});
}

Expr same_type(TileOp op, const Expr& a) {
  check_number(a);
  return Trace::current().add(op, type_of(a), {a});
}

Expr function(TileOp op, const Expr& a) {
  check_number(a);
  return Trace::current().add(op, TileType::real, {Trace::current().to_real(a)});
}

}  // namespace

Expr::Expr(bool value) : Expr(Trace::current().constant(TileType::truth, value ? 1 : 0)) {}

Expr Expr::whole(std::int64_t number) {
  if (!kernels::fits_index(number)) {
    fail(kExpression, "the integer ", number, " does not fit int32");
  }
  return Trace::current().constant(TileType::index, static_cast<double>(number));
}

Expr Expr::real(double number) {
  return Trace::current().constant(TileType::real, number);
}

Expr& Expr::operator+=(const Expr& other) {
  return *this = *this + other;
}
Expr& Expr::operator-=(const Expr& other) {
  return *this = *this - other;
}
Expr& Expr::operator*=(const Expr& other) {
  return *this = *this * other;
}
Expr& Expr::operator/=(const Expr& other) {
  return *this = *this / other;
}

Expr operator+(const Expr& a, const Expr& b) {
  return arithmetic(TileOp::add, a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
  return arithmetic(TileOp::sub, a, b);
}
Expr operator*(const Expr& a, const Expr& b) {
  return arithmetic(TileOp::mul, a, b);
}
Expr operator/(const Expr& a, const Expr& b) {
  const Pair pair(a, b);
  const TileOp op = pair.type == TileType::index ? TileOp::floor_div : TileOp::div;
  return Trace::current().add(op, pair.type, {pair.a, pair.b});
}
Expr operator%(const Expr& a, const Expr& b) {
  if (type_of(a) != TileType::index || type_of(b) != TileType::index) {
    fail<DTypeError>(kExpression, "% needs two indices");
  }
  return Trace::current().add(TileOp::remainder, TileType::index, {a, b});
}
Expr operator-(const Expr& a) {
  return same_type(TileOp::neg, a);
}
Expr min(const Expr& a, const Expr& b) {
  return arithmetic(TileOp::min, a, b);
}
Expr max(const Expr& a, const Expr& b) {
  return arithmetic(TileOp::max, a, b);
}
Expr abs(const Expr& a) {
  return same_type(TileOp::abs, a);
}

Expr exp(const Expr& a) {
  return function(TileOp::exp, a);
}
Expr log(const Expr& a) {
  return function(TileOp::log, a);
}
Expr tanh(const Expr& a) {
  return function(TileOp::tanh, a);
}

Expr operator==(const Expr& a, const Expr& b) {
  return equality(TileOp::eq, a, b);
}
Expr operator!=(const Expr& a, const Expr& b) {
  return equality(TileOp::ne, a, b);
}
Expr operator<(const Expr& a, const Expr& b) {
  return comparison(TileOp::lt, a, b);
}
Expr operator<=(const Expr& a, const Expr& b) {
  return comparison(TileOp::le, a, b);
}
Expr operator>(const Expr& a, const Expr& b) {
  return comparison(TileOp::lt, b, a);
}
Expr operator>=(const Expr& a, const Expr& b) {
  return comparison(TileOp::le, b, a);
}
Expr operator&&(const Expr& a, const Expr& b) {
  return logic(TileOp::logical_and, a, b);
}
Expr operator||(const Expr& a, const Expr& b) {
  return logic(TileOp::logical_or, a, b);
}
Expr operator!(const Expr& a) {
  check_truth(a);
  return Trace::current().add(TileOp::logical_not, TileType::truth, {a});
}

Expr where(const Expr& condition, const Expr& a, const Expr& b) {
  check_truth(condition);
  Trace& trace = Trace::current();
  if (type_of(a) == TileType::truth && type_of(b) == TileType::truth) {
    return trace.add(TileOp::where, TileType::truth, {condition, a, b});
  }
  const Pair pair(a, b);
  return trace.add(TileOp::where, pair.type, {condition, pair.a, pair.b});
}

// Uses where, since min and max would share the gradient between a and a bound that is equal to it.
Expr clamp(const Expr& a, const Expr& lo, const Expr& hi) {
  const Expr raised = where(a < lo, lo, a);
  return where(raised > hi, hi, raised);
}

Expr minimum(const Expr& a, const Expr& b) {
  return min(a, b);
}
Expr maximum(const Expr& a, const Expr& b) {
  return max(a, b);
}
Expr remainder(const Expr& a, const Expr& b) {
  return a % b;
}
Expr logical_and(const Expr& a, const Expr& b) {
  return a && b;
}
Expr logical_or(const Expr& a, const Expr& b) {
  return a || b;
}
Expr logical_xor(const Expr& a, const Expr& b) {
  check_truth(a);
  check_truth(b);
  return a != b;
}
Expr logical_not(const Expr& a) {
  return !a;
}
Expr isnan(const Expr& a) {
  return a != a;
}

Lookup lookup(const Tensor& table) {
  if (!table.defined()) fail("lookup", "the tensor is undefined");
  return Lookup(table);
}

Expr Lookup::read(std::initializer_list<Expr> indices) const {
  Trace& trace = Trace::current();
  std::vector<int> nodes;
  for (const Expr& index : indices) nodes.push_back(trace.node_of(index));
  return trace.look_up(table_, std::move(nodes));
}

}  // namespace tend::attention
