// Numbers from the user: kept exactly where they are integers, refused where they do not fit.
#include <cstdint>
#include <limits>

#include <tend/attention/tend.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // no double

Tensor integers(std::initializer_list<std::int64_t> numbers) {
  return Tensor(Array::from<std::int64_t>({numbers.begin(), numbers.size()},
                                          {static_cast<std::int64_t>(numbers.size())}));
}

std::vector<std::int64_t> whole(const Tensor& x) {
  return x.to_vector<std::int64_t>();
}

// What f throws names float32.
template <class F>
bool refuses(F f) {
  try {
    f();
  } catch (const DTypeError& error) {
    return std::string(error.what()).find("float32 cannot hold the value 1e+300") !=
           std::string::npos;
  }
  return false;
}

template <class T>
concept TakesTwoDims = requires(const Tensor& x, T flag) {
  x.sum(0, flag);
};
template <class T>
concept Flagged = requires(const Tensor& x, T flag) {
  sum(x, 0, flag);
  x.max(0, flag);
  x.var(0, 1, flag);
  x.sort(0, flag);
  x.topk(1, 0, flag);
  x.unique(flag, flag, flag);
  x.isclose(x, 1e-5, 1e-8, flag);
  x.index_put({0}, x, flag);
  x.backward({}, flag, flag);
  multinomial(x, 1, flag);
  searchsorted(x, x, flag);
  dropout(x, 0.5, flag);
  nn::Linear(1, 1, flag);
  nn::LayerNorm(Shape{1}, 1e-5, flag);
  attention::AttentionOptions{.is_causal = flag};
};

}  // namespace

TEST_CASE("flags are bools, and sum does not take a second dimension for one") {
  STATIC_REQUIRE(TakesTwoDims<bool>);
  STATIC_REQUIRE_FALSE(TakesTwoDims<int>);
  STATIC_REQUIRE(Flagged<bool>);
  STATIC_REQUIRE_FALSE(Flagged<int>);
}

TEST_CASE("to_vector of another element type says how to convert") {
  CHECK_THROWS_MATCHES(ones({2}).to_vector<double>(), DTypeError,
                       says("[data] the elements are float32, not float64; to(dtype) converts "
                            "them"));
  CHECK(ones({2}).to(float64).to_vector<double>() == std::vector<double>{1, 1});
}

TEST_CASE("full has the dtype of its value") {
  CHECK(full({2}, 1).dtype() == int64);
  CHECK(full({2}, true).dtype() == boolean);
  CHECK(full({2}, 1.0).dtype() == float32);
  CHECK(full({2}, 1, float64).dtype() == float64);
  CHECK(full_like(ones({2}, float64), 1).dtype() == float64);
  CHECK(whole(full({2}, kOdd)) == std::vector<std::int64_t>{kOdd, kOdd});
}

TEST_CASE("indices that int64 cannot hold are errors") {
  const Tensor x = arange(3);
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(x[kHuge], IndexError);
  CHECK_THROWS_AS((x[{Slice{kHuge, {}}}]), IndexError);
  CHECK_THROWS_AS(x.sum(kHuge), IndexError);
  CHECK_THROWS_AS(x.sum({0, kHuge}), IndexError);
  CHECK_THROWS_AS(x.view({kHuge}), IndexError);
  CHECK_THROWS_AS(x.argmax(kHuge), IndexError);
  CHECK_THROWS_AS(x + std::uint64_t{kHuge}, IndexError);
  CHECK(x[std::size_t{2}].item<int>() == 2);
  CHECK_THROWS_AS(tensor(1e10).item<int>(), DTypeError);
}

TEST_CASE("integer factors stay integers") {
  const Tensor zero = integers({0}), one = integers({1});
  const Tensor cell = ones({1, 1}, int64), none = zeros({1, 1}, int64);
  const Tensor batch = ones({1, 1, 1}, int64), empty = zeros({1, 1, 1}, int64);
  for (const Tensor& found : {add(zero, one, kOdd),
                              sub(zero, one, -kOdd),
                              rsub(one, zero, -kOdd),
                              rsub(one, 0, -kOdd),
                              addcmul(zero, one, one, kOdd),
                              addmm(none, cell, cell, 1, kOdd),
                              addmm(cell, cell, none, kOdd, 1),
                              addmv(zero, cell, one, 1, kOdd),
                              addmv(one, cell, zero, kOdd, 1),
                              baddbmm(empty, batch, batch, 1, kOdd),
                              baddbmm(batch, batch, empty, kOdd),
                              addbmm(none, batch, batch, 1, kOdd),
                              addbmm(cell, batch, empty, kOdd),
                              zero.clone().add_(one, kOdd),
                              zero.clone().sub_(one, -kOdd),
                              zero.clone().addcmul_(one, one, kOdd),
                              none.clone().addmm_(cell, cell, 1, kOdd),
                              zero.clone().addmv_(cell, one, 1, kOdd),
                              empty.clone().baddbmm_(batch, batch, 1, kOdd),
                              none.clone().addbmm_(batch, batch, 1, kOdd),
                              clamp(zero, kOdd),
                              where(one == 1, kOdd, zero),
                              masked_fill(zero, one == 1, kOdd),
                              arange(kOdd, kOdd + 1),
                              zero.clone().fill_(kOdd),
                              index_fill(zero, 0, zero, kOdd),
                              scatter(zero, 0, zero, kOdd),
                              pad(zero, {1, -1}, PadMode::constant, kOdd),
                              one * kOdd,
                              pow(full({1}, kOdd), 1)}) {
    CHECK(whole(found) == std::vector<std::int64_t>{kOdd});
  }
  CHECK(whole(sub(zero, one, kMin)) == std::vector<std::int64_t>{kMin});
  CHECK_FALSE((full({}, kOdd) == kOdd - 1).item<bool>());
  CHECK(searchsorted(integers({kOdd - 1, kOdd}), kOdd).item<int>() == 1);
}

TEST_CASE("int64 wraps around in every operation") {
  const Tensor x = integers({kMin, kMax});
  CHECK(whole(-x) == std::vector<std::int64_t>{kMin, -kMax});
  CHECK(whole(abs(x)) == std::vector<std::int64_t>{kMin, kMax});
  CHECK(whole(square(x)) == std::vector<std::int64_t>{0, 1});
  CHECK(whole(x + x) == std::vector<std::int64_t>{0, -2});
  CHECK(whole(x + kMin) == std::vector<std::int64_t>{0, -1});
  CHECK(whole(x - kMin) == std::vector<std::int64_t>{0, -1});
  CHECK(whole(floor_divide(x, -1)) == std::vector<std::int64_t>{kMin, -kMax});
  CHECK(whole(remainder(x, -1)) == std::vector<std::int64_t>{0, 0});
  CHECK(whole(fmod(x, -1)) == std::vector<std::int64_t>{0, 0});
  CHECK(whole(cumsum(integers({kMax, kMax, 3}), 0)) == std::vector<std::int64_t>{kMax, -2, 1});
  CHECK(whole(cumprod(integers({kMax, kMax}), 0)) == std::vector<std::int64_t>{kMax, 1});
  CHECK(sum(integers({kMin, kMin})).item<std::int64_t>() == 0);
  CHECK(prod(integers({kMin, -1})).item<std::int64_t>() == kMin);
  CHECK(dot(x, x).item<std::int64_t>() == 1);
  CHECK(trace(x.expand({2, 2})).item<std::int64_t>() == -1);
  CHECK(whole(addcmul(x, x, x, kMin)) == std::vector<std::int64_t>{kMin, -1});
  CHECK(whole(scatter_add(x, 0, integers({1}), integers({1}))) ==
        std::vector<std::int64_t>{kMin, kMin});
}

TEST_CASE("float32 refuses numbers that would become infinite in it") {
  const Tensor x = ones({2}), yes = x == 1, cell = ones({2, 2}), batch = ones({1, 2, 2});
  const Tensor wide = tensor(1e300, float64), at = integers({0});
  constexpr double kHuge = 1e300;
  CHECK(refuses([&] { full({2}, kHuge); }));
  CHECK(refuses([&] { full_like(x, kHuge); }));
  CHECK(refuses([&] { x.clone().fill_(kHuge); }));
  CHECK(refuses([&] { masked_fill(x, yes, kHuge); }));
  CHECK(refuses([&] { x.clone().masked_fill_(yes, kHuge); }));
  CHECK(refuses([&] { masked_fill(x, yes, wide); }));
  CHECK(refuses([&] { pad(x, {1, 1}, PadMode::constant, kHuge); }));
  CHECK(refuses([&] { index_fill(x, 0, at, kHuge); }));
  CHECK(refuses([&] { index_fill(x, 0, at, wide); }));
  CHECK(refuses([&] { scatter(x, 0, at, kHuge); }));
  CHECK(refuses([&] { x.clone()[0] = kHuge; }));
  CHECK(refuses([&] { x.clone()[{at}] = kHuge; }));
  CHECK(refuses([&] { add(x, x, kHuge); }));
  CHECK(refuses([&] { sub(x, x, kHuge); }));
  CHECK(refuses([&] { rsub(x, x, kHuge); }));
  CHECK(refuses([&] { x.clone().add_(x, kHuge); }));
  CHECK(refuses([&] { x.clone().sub_(x, kHuge); }));
  CHECK(refuses([&] { addcmul(x, x, x, kHuge); }));
  CHECK(refuses([&] { addcdiv(x, x, x, kHuge); }));
  CHECK(refuses([&] { addmm(cell, cell, cell, 1, kHuge); }));
  CHECK(refuses([&] { addmv(x, cell, x, kHuge); }));
  CHECK(refuses([&] { baddbmm(batch, batch, batch, kHuge); }));
  CHECK(refuses([&] { addbmm(cell, batch, batch, 1, kHuge); }));
  CHECK(refuses([&] { clamp(x, kHuge); }));
  CHECK(refuses([&] { clamp_min(x, kHuge); }));
  CHECK(refuses([&] { clamp_max(x, kHuge); }));
  CHECK(refuses([&] { where(yes, x, kHuge); }));
  CHECK(refuses([&] { where(yes, kHuge, 1); }));
  CHECK(refuses([&] { linspace(0, kHuge, 3); }));
  CHECK(refuses([&] { lerp(x, x, kHuge); }));
  CHECK(refuses([&] { hardtanh(x, -1, kHuge); }));
  CHECK(refuses([&] { leaky_relu(x, kHuge); }));
  CHECK(refuses([&] { elu(x, kHuge); }));
  CHECK(refuses([&] { softplus(x, kHuge); }));
  // PyTorch computes with these numbers, and takes what comes out.
  CHECK(same(x * kHuge, {kInf, kInf}));
  CHECK(same(x + kHuge, {kInf, kInf}));
  CHECK(same(tensor({kHuge}), {kInf}));
  CHECK(values(x < kHuge) == std::vector<double>{1, 1});
  for (const double number : {kInf, -kInf}) CHECK(same(full({1}, number), {number}));
  CHECK(same(full({1}, kNaN), {kNaN}));
  CHECK(same(full({1}, 1e300, float64), {1e300}));
}

TEST_CASE("isclose without tolerance compares integers themselves") {
  const Tensor a = integers({kOdd - 1, std::int64_t{1} << 24}), b = a + 1;
  CHECK_FALSE(isclose(a, b, 0, 0).any().item<bool>());
  CHECK_FALSE(allclose(a, b, 0, 0));
  CHECK(allclose(a, a.clone(), 0, 0));
  CHECK(allclose(a, b));  // as PyTorch, which takes tolerances of float32
}

TEST_CASE("huber_loss has its gradient for any delta") {
  for (const double delta : {kInf, 1e38}) {
    const auto loss = [delta](const Tensor& x) {
      return huber_loss(x, zeros_like(x), Reduction::sum, delta);
    };
    CHECK(same(slope(loss, tensor({1e-7, 0.5, -2.0})), {double{1e-7F}, 0.5, -2}));
  }
  CHECK(same(slope([](const Tensor& x) { return huber_loss(x, zeros_like(x), Reduction::sum, 1); },
                   tensor({kInf, -kInf, kNaN})),
             {1, -1, kNaN}));
}

TEST_CASE("losses of differences take bool targets, as numbers") {
  const Tensor x = tensor({0.25, 0.5}), t = tensor({true, false});
  CHECK(mse_loss(x, t).item() == 0.40625);
  CHECK(l1_loss(x, t).item() == 0.625);
  CHECK(smooth_l1_loss(x, t).item() == 0.203125);
  CHECK(smooth_l1_loss(x, t, Reduction::mean, 0).item() == 0.625);
  CHECK(huber_loss(x, t).item() == 0.203125);
  CHECK(same(slope([&](const Tensor& y) { return mse_loss(y, t); }, x), {-0.75, 0.5}));
  CHECK_THROWS_AS(mse_loss(t, t), DTypeError);
}

TEST_CASE("ranges that lead the other way, and dimensions that are not there, are errors") {
  CHECK_THROWS_AS(arange(1., 0., 2.), Error);
  CHECK_THROWS_AS(arange(-0.5), Error);
  CHECK(arange(-0.).numel() == 0);
  CHECK(arange(0, 0, -1).numel() == 0);
  const Tensor number = zeros({});
  CHECK_THROWS_AS(flatten(number, 5, 7), IndexError);
  CHECK_THROWS_AS(flatten(number, 0, 1), IndexError);
  CHECK(flatten(number, -1, 0).shape() == Shape{1});
  CHECK_THROWS_AS(movedim(number, 5, 9), IndexError);
  CHECK_THROWS_AS(movedim(number, {0, -1}, {0, -1}), ShapeError);
  CHECK(movedim(number, 0, -1).shape().empty());
}

TEST_CASE("a 0-d tensor, index or source scatters as one of one element") {
  const auto gradients = [](const Tensor& self, const Tensor& index, const Tensor& source) {
    const Tensor x = self.clone().requires_grad_(), s = source.clone().requires_grad_();
    const Tensor y = scatter_add(x, 0, index, s);
    CHECK(y.shape() == self.shape());
    y.sum().backward();
    CHECK(s.grad().shape() == source.shape());
    CHECK(same(s.grad(), {1}));
    return y.sum().item();
  };
  const Tensor number = tensor(1.), one = integers({0}), zero = zeros({}, int64);
  CHECK(gradients(number, one, tensor({2.})) == 3);
  CHECK(gradients(number, one, tensor(2.)) == 3);
  CHECK(gradients(number, zero, tensor({2.})) == 3);
  CHECK(gradients(ones({3}), zero, tensor(2.)) == 5);
  CHECK(gradients(ones({3}), zero, tensor({2.})) == 5);
  CHECK(scatter_add(number, 0, integers({0, 0}), tensor({2., 3.})).item() == 6);
  CHECK(scatter(number, 0, one, tensor({2.})).item() == 2);
}

TEST_CASE("relu, elu and hardtanh pass the gradient of NaN on, as PyTorch") {
  for (const auto& f : {relu(tensor(kNaN).requires_grad_()), elu(tensor(kNaN).requires_grad_()),
                        hardtanh(tensor(kNaN).requires_grad_())}) {
    CHECK(std::isnan(f.item()));
  }
  CHECK(same(slope([](const Tensor& x) { return relu(x); }, tensor({kNaN, 0.})), {1, 0}));
  CHECK(same(slope([](const Tensor& x) { return elu(x); }, tensor({kNaN, 0.})), {1, 1}));
  CHECK(same(slope([](const Tensor& x) { return hardtanh(x); }, tensor({kNaN, 1.})), {1, 0}));
}

TEST_CASE("an in-place operation on a view of nothing asks for no memory in backward") {
  const Tensor x = zeros({std::int64_t{1} << 33, 0}).requires_grad_();
  const Tensor y = x * 1;
  y[0].mul_(2);
  y.sum().backward();
  CHECK(x.grad().shape() == x.shape());
}

TEST_CASE("sizes near 2^63 are counted without overflow") {
  const Tensor row = ones({1}).expand({kMax - 1});
  CHECK_THROWS_MATCHES(cat({row, row}), ShapeError,
                       says("[cat] the sizes along dimension 0 of 2 tensors add up to more than an "
                            "int64 can count"));
  const Tensor nothing = zeros({1, 0}).expand({kMax - 1, 0});
  CHECK(nothing.roll(kMin, 0).numel() == 0);
  CHECK(nothing.roll(kMax, 0).numel() == 0);
  CHECK(row.split(kMax).size() == 1);
  CHECK(row.split(kMax - 2).size() == 2);
  CHECK_THROWS_AS(row.split(1), OutOfMemoryError);
  CHECK_THROWS_AS(row.unbind(), OutOfMemoryError);
  CHECK_THROWS_AS(row.chunk(kMax), OutOfMemoryError);
  CHECK(zeros({kMax - 1, 4, 0}).sum({0, 1}).numel() == 0);
  CHECK(zeros({kMax - 1, 4, 0}).mean({0, 1}).numel() == 0);
  CHECK_THROWS_AS(attention::causal_mask_bottom_right(-1, kMax), ShapeError);
}
