#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("a number changes the dtype only if its category is higher") {
  CHECK((tensor({1, 2}) * 2).dtype() == int64);
  CHECK((tensor({1, 2}) * 2.5).dtype() == float32);
  CHECK((tensor({1.}, float64) * 2).dtype() == float64);
  CHECK((tensor({1.}) * 2.5).dtype() == float32);
  CHECK((tensor({true}) * 2).dtype() == int64);
  CHECK(maximum(tensor({1, 2}), tensor({1.5, 1.5})).dtype() == float32);
  CHECK(maximum(tensor({1.}), tensor(1., float64)).dtype() == float32);
  CHECK(remainder(tensor({true}), 2).dtype() == int64);
  CHECK(floor_divide(tensor({7}), 2.5).dtype() == float32);
  CHECK(pow(tensor({2}), 0.5).dtype() == float32);
  CHECK(pow(2.5, tensor({2})).dtype() == float32);
  CHECK(square(tensor({true})).dtype() == int64);
}

TEST_CASE("maximum and minimum halve the gradient of equal elements") {
  const Tensor a = tensor({1., 2., kNaN, 1., kInf});
  const Tensor b = tensor({1., 1., 1., kNaN, kInf});
  CHECK(same(maximum(a, b), {1, 2, kNaN, kNaN, kInf}));
  CHECK(same(minimum(a, b), {1, 1, kNaN, kNaN, kInf}));
  const auto of_maximum = slopes(tend::maximum, a, b);
  CHECK(same(of_maximum[0], {0.5, 1, 1, 1, 0.5}));
  CHECK(same(of_maximum[1], {0.5, 0, 1, 1, 0.5}));
  const auto of_minimum = slopes(tend::minimum, a, b);
  CHECK(same(of_minimum[0], {0.5, 0, 1, 1, 0.5}));
  CHECK(same(of_minimum[1], {0.5, 1, 1, 1, 0.5}));
}

TEST_CASE("abs and sign have slope 0 at 0") {
  const Tensor x = tensor({-2., 0., kNaN, -kInf});
  CHECK(same(abs(x), {2, 0, kNaN, kInf}));
  CHECK(same(sign(x), {-1, 0, 0, -1}));
  CHECK(same(slope(tend::abs, x), {-1, 0, 0, -1}));
  CHECK(same(slope(tend::sign, x), {0, 0, 0, 0}));
  CHECK(sign(tensor({true, false})).equal(tensor({true, false})));
}

TEST_CASE("floor_divide and remainder have Python's signs") {
  const Tensor a = tensor({-7, 7, -7, 7});
  const Tensor b = tensor({2, 2, -2, -2});
  CHECK(same(floor_divide(a, b), {-4, 3, 3, -4}));
  CHECK(same(remainder(a, b), {1, 1, -1, -1}));
  CHECK(same(floor_divide(a * 1., b), {-4, 3, 3, -4}));
  CHECK(same(remainder(a * 1., b), {1, 1, -1, -1}));
  CHECK(same(floor_divide(tensor({1., -1., 0.}), 0), {kInf, -kInf, kNaN}));
  CHECK(same(remainder(tensor({1.}), 0), {kNaN}));
  const auto gradients = slopes([](auto& x, auto& y) { return remainder(x, y); },
                                tensor({5., -5., 5., -5.}), tensor({3., 3., -3., -3.}));
  CHECK(same(gradients[0], {1, 1, 1, 1}));
  CHECK(same(gradients[1], {-1, 2, 2, -1}));
}

TEST_CASE("pow has PyTorch's slopes at base zero") {
  const Tensor base = tensor({0., 0., 0., 2., -1., -2.});
  const Tensor exponent = tensor({0., 2., -1., 3., 2., 0.5});
  const auto gradients = slopes([](auto& x, auto& p) { return pow(x, p); }, base, exponent);
  CHECK(same(gradients[0], {0, 0, -kInf, 12, -2, kNaN}));
  CHECK_THAT(values(gradients[1])[3], Catch::Matchers::WithinRel(8 * std::log(2.0), 1e-6));
  CHECK(same(gradients[1].slice(0, 0, 3), {0, 0, -kInf}));
  CHECK(same(gradients[1].slice(0, 4, 6), {kNaN, kNaN}));
  CHECK(same(slope([](auto& x) { return pow(x, 0); }, tensor({0., 2., kNaN})), {0, 0, 0}));
  CHECK(same(slope([](auto& x) { return pow(x, 0.5); }, tensor({0., 4.})), {kInf, 0.25}));
  CHECK(same(slope([](auto& p) { return pow(0, p); }, tensor({0., 2., -1.})), {0, 0, -kInf}));
  CHECK(same(slope([](auto& p) { return pow(1, p); }, tensor({0., 2., kNaN})), {0, 0, 0}));
}
