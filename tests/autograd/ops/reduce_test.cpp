// The expected numbers are PyTorch's.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

Tensor leaf(const Tensor& tensor) {
  return tensor.detach().requires_grad_();
}

template <class T>
concept IsDimension = requires(const Tensor& x, T d) {
  max(x, d);
  min(x, d);
  x.max(d);
  x.min(d);
};

template <class T>
concept IsBound = requires(const Tensor& x, T d) {
  max(x, d);
}
|| requires(const Tensor& x, T d) {
  min(x, d);
}
|| requires(const Tensor& x, T d) {
  x.max(d);
}
|| requires(const Tensor& x, T d) {
  x.min(d);
};

}  // namespace

// max(x, 0.5) must not compile. Users would expect a clamp, but the call would mean max(x, 0).
static_assert(IsDimension<int> && IsDimension<std::int64_t>);
static_assert(!IsBound<double> && !IsBound<float>);

TEST_CASE("reductions of empty tensors return the neutral element or throw") {
  const Tensor none = zeros({0}), rows = zeros({2, 0});
  CHECK(none.prod().item() == 1);
  CHECK(same(none.mean(), {kNaN}));
  CHECK(same(none.var(), {kNaN}));
  CHECK(same(rows.prod(1), {1, 1}));
  CHECK_FALSE(none.any().item<bool>());
  CHECK(none.all().item<bool>());
  CHECK(rows.max(0).values.shape() == Shape{0});
  CHECK(rows.argmax(0).shape() == Shape{0});
  CHECK(none.cumsum(0).shape() == Shape{0});
  CHECK_THROWS_MATCHES(none.max(), ShapeError, says("[max] no elements to choose from in (0,)"));
  CHECK_THROWS_AS(none.amin(), ShapeError);
  CHECK_THROWS_AS(rows.max(1), ShapeError);
  CHECK_THROWS_MATCHES(none.argmin(), ShapeError,
                       says("[argmin] no elements to choose from in (0,)"));
}

TEST_CASE("a norm of any order is finite even if the powers are not") {
  const auto norm_of = [](const Tensor& x, double p) { return norm(x, p).item<double>(); };
  CHECK(norm_of(tensor({1e10}), 100) == 1e10F);
  CHECK(norm_of(tensor({1e-10}), 100) == 1e-10F);
  CHECK(norm_of(tensor({1e10}), -100) == 1e10F);
  CHECK(norm_of(tensor({3., -4.}, {.dtype = float64}), 1e300) == 4);
  CHECK(norm_of(tensor({3., -4.}), 1e300) == 4);
  CHECK(norm_of(tensor({0., 0.}), 100) == 0);
  CHECK(norm_of(tensor({1., -INFINITY}), 100) == INFINITY);
  CHECK(std::isnan(norm_of(tensor({1e10, NAN}), 100)));
  // The powers of the first row are finite, and the powers of the second row overflow. The gradient
  // is (x / norm)^99.
  const Tensor x = tensor({{1., 0.}, {1e10, 0.}}, {.requires_grad = true});
  const Tensor rows = norm(x, 100, {1});
  CHECK(equal(rows, tensor({1., 1e10})));
  rows.sum().backward();
  CHECK(equal(x.grad(), tensor({{1., 0.}, {1., 0.}})));
  CHECK(equal(cdist(tensor({{0., 0.}}), tensor({{3., 4.}}), 1e300), tensor({{4.}})));
}

TEST_CASE("the gradient of prod is right if elements are zero") {
  const auto product = [](const Tensor& x) { return x.prod(); };
  CHECK(values(slope(product, tensor({2., 3., 4.}))) == std::vector<double>{12, 8, 6});
  CHECK(values(slope(product, tensor({2., 0., 3.}))) == std::vector<double>{0, 6, 0});
  CHECK(values(slope(product, tensor({0., 0., 3.}))) == std::vector<double>{0, 0, 0});
  CHECK(values(slope(product, tensor({5.}))) == std::vector<double>{1});
  CHECK(values(slope(product, tensor({0.}))) == std::vector<double>{1});
  CHECK(slope(product, zeros({0})).shape() == Shape{0});
  const auto middle = [](const Tensor& x) { return x.prod({0, 2}); };
  const Tensor x = tensor({{{1., 0.}, {2., 3.}}, {{4., 5.}, {6., 7.}}});
  CHECK(values(slope(middle, x)) == std::vector<double>{0, 20, 126, 84, 0, 0, 42, 36});
}

TEST_CASE("the second derivative of prod is right if an element is zero") {
  const Tensor x = leaf(tensor({2., 0., 3., 5.}, float64));
  const Tensor first = autograd::grad({x.prod()}, {x}, {}, {.create_graph = true})[0];
  std::vector<double> hessian;
  for (std::int64_t i = 0; i < 4; ++i) {
    const Tensor row = autograd::grad({first[i]}, {x}, {}, {.retain_graph = true})[0];
    for (const double value : values(row)) hessian.push_back(value);
  }
  CHECK(hessian == std::vector<double>{0, 15, 0, 0, 15, 0, 10, 6, 0, 10, 0, 0, 0, 6, 0, 0});
}

TEST_CASE("var and std use the requested correction") {
  const Tensor x = tensor({{1., 2.}, {3., 4.}});
  CHECK(x.var().item() == Approx(5 / 3.0));
  CHECK(x.var({}, 0).item() == Approx(1.25));
  CHECK(x.std().item() == Approx(std::sqrt(5 / 3.0)));
  CHECK(values(x.var(0, 0)) == std::vector<double>{1, 1});
  CHECK(same(x.var(0, 3), {kInf, kInf}));
  CHECK(x.std({0, 1}, 1, true).shape() == Shape{1, 1});
}

TEST_CASE("var and std have PyTorch's gradients where they are not differentiable") {
  const auto deviation = [](const Tensor& x) { return x.std(); };
  CHECK(same(slope(deviation, tensor({1., 1.})), {0, 0}));
  CHECK(same(slope(deviation, tensor({1.})), {kNaN}));
  CHECK(same(slope([](const Tensor& x) { return x.var(); }, tensor({1.})), {kNaN}));
  CHECK(same(slope([](const Tensor& x) { return x.var({}, 2); }, tensor({1., 2.})), {kInf, kInf}));
  // If dimensions are given, PyTorch also divides by a count that is zero or negative.
  CHECK(same(slope([](const Tensor& x) { return x.var(0, 2); }, tensor({1., 2.})), {-kInf, kInf}));
  CHECK(same(slope([](const Tensor& x) { return x.var(0, 3); }, tensor({1., 2.})), {1, -1}));
  CHECK(same(slope([](const Tensor& x) { return x.std(0, 3); }, tensor({1., 2.})), {0, 0}));
}

TEST_CASE("max and min of a whole tensor divide their gradient among equal elements") {
  const Tensor x = tensor({1., 1., 0., 0.});
  CHECK(same(slope([](const Tensor& t) { return t.max(); }, x), {0.5, 0.5, 0, 0}));
  CHECK(same(slope([](const Tensor& t) { return t.min(); }, x), {0, 0, 0.5, 0.5}));
  CHECK(same(slope([](const Tensor& t) { return t.amax(); }, x), {0.5, 0.5, 0, 0}));
  CHECK(same(slope([](const Tensor& t) { return t.amin(0); }, x), {0, 0, 0.5, 0.5}));
  const Tensor nan = tensor({kNaN, 1., kNaN});
  CHECK(same(slope([](const Tensor& t) { return t.max(); }, nan), {0.5, 0, 0.5}));
}

TEST_CASE("max along a dimension sends its gradient to the first of equal elements") {
  Tensor x = leaf(tensor({{1., 3., 3.}, {2., 2., 0.}}));
  const auto [largest, where] = x.max(-1);
  CHECK(values(largest) == std::vector<double>{3, 2});
  CHECK(values(where) == std::vector<double>{1, 0});
  (largest * tensor({10., 20.})).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 10, 0, 20, 0, 0});
  CHECK(x.min(0, true).values.shape() == Shape{1, 3});
  CHECK(values(x.min(0).indices) == std::vector<double>{0, 1, 1});
}

TEST_CASE("any and all count NaN as true") {
  const Tensor x = tensor({{0., kNaN}, {0., 0.}});
  CHECK(values(x.any(1)) == std::vector<double>{1, 0});
  CHECK(values(x.all(0, true)) == std::vector<double>{0, 0});
  CHECK(x.any().item<bool>());
}

TEST_CASE("the gradient of cumprod is right for zeros, NaN and infinities") {
  const Tensor x = leaf(tensor({2., 0., 4., 0., 5.}));
  // The expected numbers are the derivatives of x0 + x0 * x1 + ... by each element.
  CHECK(values(slope([](const Tensor& t) { return t.cumprod(0); }, x)) ==
        std::vector<double>{1, 10, 0, 0, 0});
  CHECK(same(slope([](const Tensor& t) { return t.cumprod(0); }, tensor({kNaN, 2., 0.})),
             {3, kNaN, kNaN}));
  // The product of the elements after the zero overflows, and must not make 0 * infinity = NaN.
  const Tensor powers = cat({zeros({1}), full({200}, 2.0)});
  const Tensor after_zero =
      slope([](const Tensor& t) { return t.cumprod(0); }, powers).narrow(0, 1, 200);
  CHECK((after_zero == 0).all().item<bool>());
  // The product of the last two elements overflows, but the product of all elements is finite.
  const Tensor small = tensor({1e-38, 1, 1e30, 1e30}, float32);
  CHECK(slope([](const Tensor& t) { return t.cumprod(0); }, small)
            .narrow(0, 1, 3)
            .allclose(tensor({1e22, 1e-8, 1e-8}, float32), 1e-5, 0));
  const Tensor gradient = autograd::grad({x.cumprod(0)[{2}]}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(autograd::grad({gradient.sum()}, {x})[0]) == std::vector<double>{4, 6, 2, 0, 0});
}

TEST_CASE("logsumexp does not overflow and handles infinities") {
  const auto f = [](const Tensor& t) { return t.logsumexp(0); };
  CHECK(f(tensor({1e3, 1e3})).item() == Approx(1000 + std::log(2)));
  CHECK(f(tensor({-1e3, -1e3})).item() == Approx(-1000 + std::log(2)));
  CHECK(f(tensor({-kInf, -kInf})).item() == -kInf);
  CHECK(f(tensor({kInf, 1.})).item() == kInf);
  CHECK(f(tensor({-kInf, 1.})).item() == 1);
  CHECK(std::isnan(f(tensor({kNaN, 1.})).item()));
  CHECK(same(zeros({0, 2}).logsumexp(0), {-kInf, -kInf}));
  // As in PyTorch, some slopes are NaN, from infinity - infinity.
  CHECK(same(slope(f, tensor({-kInf, 1.})), {0, 1}));
  CHECK(same(slope(f, tensor({kInf, 1.})), {kNaN, 0}));
  CHECK(same(slope(f, tensor({-kInf, -kInf})), {kNaN, kNaN}));
}

TEST_CASE("norms of zeros and of infinities are PyTorch's, and so are their gradients") {
  const auto check = [](double p, const Tensor& x, double value, const std::vector<double>& grad) {
    const auto f = [p](const Tensor& t) { return t.norm(p); };
    INFO("p = " << p << ", " << x);
    CHECK(f(x).item() == Approx(value));
    CHECK(same(slope(f, x), grad));
  };
  const Tensor none = zeros({2}, float64);
  for (const double p : {0., 0.5, 1., 1.5, 2., 2.5, 3., -1., kInf, -kInf})
    check(p, none, 0, {0, 0});
  for (const double p : {1., 1.5, 2., 3., kInf}) check(p, tensor({0., 3.}), 3, {0, 1});
  check(0, tensor({0., 3.}), 1, {0, 0});
  check(-1, tensor({0., 3.}), 0, {0, 0});
  check(kInf, tensor({3., -3.}), 3, {0.5, -0.5});
  check(-kInf, tensor({-kInf, kInf}), kInf, {-0.5, 0.5});
  check(2, tensor({kInf, 1.}), kInf, {kNaN, 0});
  CHECK(std::isnan(tensor({kNaN, 1.}).norm(kInf).item()));
  CHECK(zeros({0}).norm().item() == 0);
  CHECK_THROWS_AS(zeros({0}).norm(kInf), ShapeError);
  CHECK_THROWS_AS(zeros({0}).norm(-1), ShapeError);
}

TEST_CASE("the median is the lower middle element or NaN and divides its gradient among equals") {
  CHECK(tensor({4, 1, 3, 2}).median().item<std::int64_t>() == 2);
  CHECK(std::isnan(tensor({1., kNaN, 2.}).median().item()));
  CHECK(std::isnan(zeros({0}).median().item()));
  CHECK(tensor({kNaN, 2., kNaN}).median(0).indices.item<std::int64_t>() == 0);
  const auto full = [](const Tensor& t) { return t.median(); };
  CHECK_THAT(values(slope(full, tensor({1., 2., 1., 1.}))), near({1. / 3, 0, 1. / 3, 1. / 3}));
  CHECK(values(slope(full, tensor({1., kNaN, 2.}))) == std::vector<double>{0, 1, 0});
  const auto along = [](const Tensor& t) { return t.median(0).values; };
  CHECK(values(slope(along, tensor({3., 1., 2., 4.}))) == std::vector<double>{0, 0, 1, 0});
}

TEST_CASE("std of float32 and its gradient are right even if the squares are out of range") {
  const auto deviation = [](const Tensor& x) { return x.std(); };
  const std::vector<double> slopes = {0.0870388, 0.4351941, -0.2611165, -0.2611165};
  for (const double unit : {1e-25, 1., 1e25}) {
    CAPTURE(unit);
    const Tensor x = tensor({unit, 2 * unit, 0., 0.});
    CHECK(x.std().item() / unit == Approx(0.9574271));
    CHECK_THAT(values(slope(deviation, x)), near(slopes));
  }
  // If all elements are equal, the second derivative is 0, too.
  const Tensor x = tensor({1., 1., 1.}).requires_grad_();
  const Tensor once = autograd::grad({x.std()}, {x}, {}, {.create_graph = true})[0];
  CHECK(same(once, {0, 0, 0}));
  CHECK(same(autograd::grad({once.sum()}, {x})[0], {0, 0, 0}));
}
