// The operations that score and mask functions may use, and their errors.
#include <tend/attention/expressions/expr.h>

#include <limits>

#include "tests/attention/functions/flex_inputs.h"
#include "tests/catch.h"

#include <tend/attention/expressions/functions.h>
#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;
using tend::test::FlexInputs;

namespace {

void trace_score(const ScoreFunction&) {}
void trace_mask(const MaskFunction&) {}

}  // namespace

TEST_CASE("operations of score and mask functions check their types") {
  const Lookup table = lookup(zeros({2, 3})), truths = lookup(ones({4}, boolean));
  const auto fails = [](auto function, const char* message) {
    CHECK_THROWS_WITH(trace_score(function), ContainsSubstring(message));
  };
  fails([](auto s, auto at) { return s + (at.key < 3); }, "needs a number, got a truth value");
  fails([](auto s, auto at) { return where(at.key, s, 0.0); }, "needs a truth value, got a number");
  fails([](auto s, auto at) { return where(s < 1 && at.key, s, 0); },
        "needs a truth value, got a number");
  fails([](auto s, auto) { return s % 2; }, "% needs two indices");
  fails([](auto s, auto) { return remainder(s, 2); }, "% needs two indices");
  fails([](auto s, auto at) { return where(logical_xor(at.key, at.query), s, 0); },
        "needs a truth value, got a number");
  fails([](auto s, auto at) { return where(at.key & (at.query < 3), s, 0); },
        "needs a truth value, got a number");
  fails([](auto, auto at) { return clamp(at.key < 3, false, true); },
        "needs a number, got a truth value");
  fails([](auto, auto at) { return at.key < at.query; }, "gives a truth value instead of a number");
  fails([&](auto s, auto at) { return s + table(at.key); },
        "a look-up has 1 index for a table of shape (2, 3)");
  fails([&](auto s, auto at) { return s + table(at.key, s); },
        "a look-up needs integers as indices");
  fails([](auto s, auto at) { return s + at.key * (std::int64_t{1} << 40); },
        "the integer 1099511627776 does not fit int32");
  fails([](auto s, auto at) { return s + at.key * std::numeric_limits<std::uint64_t>::max(); },
        "does not fit int32");
  fails([&](auto s, auto at) { return s * truths(at.key); }, "needs a number, got a truth value");
  CHECK_THROWS_WITH(trace_mask([](auto at) { return at.key - at.query; }),
                    ContainsSubstring("gives a number instead of a truth value"));
  CHECK_THROWS_WITH(lookup(Tensor()), ContainsSubstring("[lookup] the tensor is undefined"));
  CHECK_NOTHROW(trace_score([](auto, auto at) { return at.key; }));
  CHECK_NOTHROW(trace_mask([&](auto at) { return truths(at.key) == (at.query > 2); }));
}

TEST_CASE("values of score and mask functions exist only during the call") {
  CHECK_THROWS_WITH(Expr(1.0), ContainsSubstring("exist only while"));
  std::vector<Expr> kept;
  trace_mask([&](auto at) {
    kept.push_back(at.key);
    return at.key <= at.query;
  });
  CHECK_THROWS_AS(kept[0] + 1, Error);
  CHECK_THROWS_WITH(trace_mask([&](auto at) { return kept[0] <= at.query; }),
                    ContainsSubstring("the value belongs to another function"));
  // After an error in a function, the thread has no trace.
  CHECK_THROWS_WITH(trace_mask([](auto at) { return at.key % 1.5 == 0; }),
                    ContainsSubstring("% needs two indices"));
  CHECK_THROWS_WITH(Expr(1), ContainsSubstring("exist only while"));
}

TEST_CASE("a function of too many operations is an error") {
  CHECK_THROWS_WITH(trace_score([](auto s, auto) {
                      for (int i = 0; i < 20'000; ++i) s = s * 1.5 + 1;
                      return s;
                    }),
                    ContainsSubstring("a function may have at most 10000 operations"));
}

TEST_CASE("index arithmetic is Python's in int32") {
  // Each number belongs to one query and one key, so that every pair of numbers is tested.
  const std::vector<std::int64_t> numbers{-7, -3, -1, 0, 1, 2, 5, 2147483647, -2147483648};
  const auto count = static_cast<std::int64_t>(numbers.size());
  const Lookup number = lookup(tensor(numbers));
  const auto python = [](std::int64_t a, std::int64_t b, bool wants_remainder) {
    const std::int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    return wants_remainder ? a - quotient * b : quotient;
  };
  const auto wrap = [](std::int64_t a) { return std::int64_t{static_cast<std::int32_t>(a)}; };
  // A position is visible if the expression equals the expected number, which is in a table.
  const auto check = [&](auto expression, auto expected) {
    std::vector<std::int64_t> results;
    for (const std::int64_t a : numbers) {
      for (const std::int64_t b : numbers) results.push_back(expected(a, b));
    }
    const Lookup wanted = lookup(tensor(results, {count, count}));
    const MaskFunction is_right = [&](auto at) {
      return expression(number(at.query), number(at.key)) == wanted(at.query, at.key);
    };
    const Tensor x = zeros({count, 4}), y = eye(count);
    for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
      const Tensor weights = flex_attention(x, x, y, {.mask = is_right, .path = path});
      CHECK((weights > 0).all().item<bool>());
    }
  };
  check([](auto a, auto b) { return a + b; }, [&](auto a, auto b) { return wrap(a + b); });
  check([](auto a, auto b) { return a - b; }, [&](auto a, auto b) { return wrap(a - b); });
  check([](auto a, auto b) { return a * b; }, [&](auto a, auto b) { return wrap(a * b); });
  check([](auto a, auto b) { return -a + abs(b); },
        [&](auto a, auto b) { return wrap(wrap(-a) + wrap(b < 0 ? -b : b)); });
  check([](auto a, auto b) { return a / where(b == 0, 1, b); },
        [&](auto a, auto b) { return wrap(python(a, b == 0 ? 1 : b, false)); });
  check([](auto a, auto b) { return a % where(b == 0, 1, b); },
        [&](auto a, auto b) { return wrap(python(a, b == 0 ? 1 : b, true)); });
  check([](auto a, auto b) { return min(a, b) + 2 * (max(a, b) % 5); },
        [&](auto a, auto b) { return wrap(std::min(a, b) + 2 * python(std::max(a, b), 5, true)); });
  check([](auto a, auto b) { return minimum(a, b) + 2 * remainder(maximum(a, b), 5); },
        [&](auto a, auto b) { return wrap(std::min(a, b) + 2 * python(std::max(a, b), 5, true)); });
  check([](auto a, auto b) { return clamp(a, b, 2); },
        [](auto a, auto b) { return std::min<std::int64_t>(std::max(a, b), 2); });
  check([](auto a, auto b) { return clip(a, -1, b); },
        [](auto a, auto b) { return std::min(std::max<std::int64_t>(a, -1), b); });
  const auto truth = [](const Expr& e) { return where(e, 1, 0); };
  check(
      [&](auto a, auto b) {
        return truth(logical_and(a > 0, b > 0)) + 2 * truth(logical_or(a > 0, b > 0)) +
               4 * truth(logical_xor(a > 0, b > 0)) + 8 * truth(logical_not(a > 0)) +
               16 * truth(isnan(a));
      },
      [](auto a, auto b) {
        const bool x = a > 0, y = b > 0;
        return std::int64_t{(x && y) + 2 * (x || y) + 4 * (x != y) + 8 * !x};
      });
}

TEST_CASE("isnan finds NaN and clamp leaves NaN unchanged but ignores a bound that is NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers{nan, -2, 0.5, 3};
  const Lookup number = lookup(tensor(numbers, {4}, float64));
  const Tensor x = zeros({1, 4}, float64), keys = zeros({4, 4}, float64), y = eye(4).to(float64);
  const auto visible = [&](auto test, AttentionPath path) {
    const Tensor weights = flex_attention(
        x, keys, y, {.mask = [&](auto at) { return test(number(at.key)); }, .path = path});
    return (weights[{0}] > 0).template to_vector<bool>();
  };
  using Truths = std::vector<bool>;
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    CHECK(visible([](auto a) { return isnan(a); }, path) == Truths{true, false, false, false});
    CHECK(visible([](auto a) { return isnan(clamp(a, -1, 1)); }, path) ==
          Truths{true, false, false, false});
    CHECK(visible([](auto a) { return clamp(a, -1, 1) == -1; }, path) ==
          Truths{false, true, false, false});
    CHECK(visible([&](auto a) { return clip(a, nan, 1) == 1; }, path) ==
          Truths{false, false, false, true});
    CHECK(visible([](auto a) { return clamp(a, 1, 0) == 0; }, path) ==
          Truths{false, true, true, true});
  }
}
