// Numbers that the user passes. Integers stay exact, and numbers that do not fit are refused.
#include <cstdint>
#include <limits>

#include <tend/attention/tend.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // not a double

Tensor integers(std::initializer_list<std::int64_t> numbers) {
  return Tensor(Array::from<std::int64_t>({numbers.begin(), numbers.size()},
                                          {static_cast<std::int64_t>(numbers.size())}));
}

std::vector<std::int64_t> whole(const Tensor& x) {
  return x.to_vector<std::int64_t>();
}

// True if f throws a DTypeError which says that float32 cannot hold 1e300.
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

}  // namespace

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

TEST_CASE("integer arguments of operations on integers stay exact") {
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

TEST_CASE("float32 refuses numbers that would become infinite") {
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
  // Here PyTorch computes with the number and accepts an infinite result.
  CHECK(same(x * kHuge, {kInf, kInf}));
  CHECK(same(x + kHuge, {kInf, kInf}));
  CHECK(same(tensor({kHuge}), {kInf}));
  CHECK(values(x < kHuge) == std::vector<double>{1, 1});
  for (const double number : {kInf, -kInf}) CHECK(same(full({1}, number), {number}));
  CHECK(same(full({1}, kNaN), {kNaN}));
  CHECK(same(full({1}, 1e300, float64), {1e300}));
}
