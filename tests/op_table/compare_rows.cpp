// Rows for autograd/ops/compare.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using Binary = Tensor (*)(T, T);
using WithNumber = Tensor (*)(T, const Scalar&);
using InPlace = T (Tensor::*)(T) const;
using InPlaceWithNumber = T (Tensor::*)(const Scalar&) const;

// Whole and half numbers, some of them equal.
Input coarse(Shape shape = {}) {
  return real(std::move(shape)).grid(0.5).constant();
}

std::string apart_message(const std::string& name) {
  return "[" + name + "] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4";
}

void compare_rows(Rows& rows) {
  struct Comparison {
    std::string name;
    Binary f;
    WithNumber with_number;
    InPlace method;
    InPlaceWithNumber in_place_with_number;
  };
  using X = Tensor;
  for (const Comparison& each :
       {Comparison{"eq", eq, eq, &X::eq_, &X::eq_}, Comparison{"ne", ne, ne, &X::ne_, &X::ne_},
        Comparison{"lt", lt, lt, &X::lt_, &X::lt_}, Comparison{"le", le, le, &X::le_, &X::le_},
        Comparison{"gt", gt, gt, &X::gt_, &X::gt_}, Comparison{"ge", ge, ge, &X::ge_, &X::ge_}}) {
    rows.op(each.name, "torch." + each.name + "(a, b)", each.f)
        .on(binary_samples(coarse(), coarse()))
        .on({{integers({2, 3}, -2, 3), integers({3}, -2, 3)},
             {integers({2, 3}, -2, 3), coarse({3})},
             {bools({4}), bools({4})}})
        .in_place([f = each.method](T a, T b) { return (a.*f)(b); })
        .refuses(apart_message(each.name), {real({2, 3}), real({4})});
    rows.op(each.name, "torch." + each.name + "(a, 0.5)",
            [f = each.with_number](T a) { return f(a, 0.5); })
        .on(unary_samples(coarse()))
        .on({{integers({2, 3}, -2, 3)}, {bools({3})}})
        .in_place([f = each.in_place_with_number](T a) { return (a.*f)(0.5); });
  }
}

void logic_rows(Rows& rows) {
  struct Connective {
    std::string name;
    Binary f;
    InPlace method;
  };
  for (const Connective& each : {Connective{"logical_and", logical_and, &Tensor::logical_and_},
                                 Connective{"logical_or", logical_or, &Tensor::logical_or_},
                                 Connective{"logical_xor", logical_xor, &Tensor::logical_xor_}}) {
    rows.op(each.name, "torch." + each.name + "(a, b)", each.f)
        .on(binary_samples(coarse(), coarse()))
        .on({{bools({4}), bools({4})}, {bools({2, 3}), integers({3}, -1, 2)}})
        .in_place([f = each.method](T a, T b) { return (a.*f)(b); })
        .refuses(apart_message(each.name), {bools({2, 3}), bools({4})});
  }
  rows.op("logical_not", "torch.logical_not(a)", logical_not)
      .on(unary_samples(coarse()))
      .on({{bools({4})}, {integers({2, 3}, -1, 2)}})
      .in_place([](T a) { return a.logical_not_(); });
}

void bitwise_rows(Rows& rows) {
  struct Connective {
    std::string name;
    Binary f;
    WithNumber with_number;
    T (Tensor::*method)(T) const;
  };
  const std::vector<Connective> connectives = {
      {"bitwise_and", bitwise_and, bitwise_and, &Tensor::bitwise_and_},
      {"bitwise_or", bitwise_or, bitwise_or, &Tensor::bitwise_or_},
      {"bitwise_xor", bitwise_xor, bitwise_xor, &Tensor::bitwise_xor_}};
  for (const Connective& each : connectives) {
    const std::string refusal = "[" + each.name + "] needs bool or int64, got float64";
    rows.op(each.name, "torch." + each.name + "(a, b)", each.f)
        .on(binary_samples(integers({}, -9, 10), integers({}, -9, 10)))
        .on({{bools({4}), bools({4})}, {bools({2, 3}), integers({3}, -9, 10)}})
        .in_place([method = each.method](T a, T b) { return (a.*method)(b); })
        .refuses(apart_message(each.name), {bools({2, 3}), bools({4})})
        .refuses(refusal, {bools({2}), real({2})});
    rows.op(each.name, "torch." + each.name + "(a, 6)",
            [f = each.with_number](T a) { return f(a, 6); })
        .on({{integers({2, 3}, -9, 10)}, {bools({3})}})
        .refuses(refusal, {real({2})});
  }
  rows.op("bitwise_and", "True & a", [](T a) { return true & a; })
      .on({{bools({4})}, {integers({2, 3}, -9, 10)}});
  rows.op("bitwise_or", "a | 4", [](T a) { return a | 4; })
      .on({{integers({2, 3}, -9, 10)}})
      .in_place([](T a) { return a.bitwise_or_(4); });
  rows.op("bitwise_and", "a & 5", [](T a) { return bitwise_and(a, 5); })
      .on({{integers({2, 3}, -9, 10)}})
      .in_place([](T a) { return a &= 5; });
  rows.op("bitwise_xor", "a ^ 3", [](T a) { return bitwise_xor(a, 3); })
      .on({{integers({2, 3}, -9, 10)}})
      .in_place([](T a) { return a.bitwise_xor_(3); });
  rows.op("bitwise_not", "~a", [](T a) { return ~a; })
      .on({{bools({2, 3})}, {integers({2, 3}, -9, 10)}, {bools({0})}, {bools({})}})
      .in_place([](T a) { return a.bitwise_not_(); })
      .refuses("[bitwise_not] needs bool or int64, got float64", {real({2})});
}

void special_value_rows(Rows& rows) {
  struct Test {
    std::string name;
    Tensor (*f)(T);
  };
  for (const Test& each :
       {Test{"isnan", isnan}, Test{"isinf", isinf}, Test{"isfinite", isfinite}}) {
    rows.op(each.name, "torch." + each.name + "(a / b)",
            [f = each.f](T a, T b) { return f(a / b); })
        .on({{coarse({2, 3}), bools({2, 3})},
             {coarse({3}), bools({2, 1})},
             {coarse({}), bools({})},
             {coarse({0}), bools({1})}});
    rows.op(each.name, "torch." + each.name + "(a)", each.f)
        .on({{integers({2, 3}, -2, 3)}, {bools({3})}});
  }
  rows.op("isclose", "torch.isclose(a, b, rtol=0.5, atol=0.25)",
          [](T a, T b) { return isclose(a, b, 0.5, 0.25); })
      .on(binary_samples(real({}).grid(0.3).constant(), coarse()))
      .on({{integers({2, 3}, -2, 3), integers({3}, -2, 3)}, {bools({4}), bools({4})}})
      .refuses("[isclose] the dtypes differ: int64 and float64", {integers({2}, -2, 3), real({2})});
}

}  // namespace

std::vector<Op> compare_rows() {
  Rows rows;
  compare_rows(rows);
  logic_rows(rows);
  bitwise_rows(rows);
  special_value_rows(rows);
  return rows.take();
}

}  // namespace tend::test
