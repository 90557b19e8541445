#include <tend/nn/data/dataset.h>

#include <limits>
#include <memory>
#include <vector>

#include <tend/autograd/ops/ops.h>

#include "tests/catch.h"
#include "tests/nn/data/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using data::IndexList;

namespace {

static_assert(data::MapDataset<Numbers> && !data::IterableDataset<Numbers>);

}  // namespace

TEST_CASE("TensorDataset returns the rows of its tensors") {
  const Tensor x = arange(6).reshape({3, 2}), y = arange(3);
  const data::TensorDataset dataset(x, y);
  CHECK(dataset.size() == 3);
  const auto [row, label] = dataset.get(1);
  CHECK(row.to_vector<std::int64_t>() == IndexList{2, 3});
  CHECK(label.shape() == Shape{});
  CHECK(label.item<std::int64_t>() == 1);
  CHECK_THROWS_AS(dataset.get(3), IndexError);
  CHECK_THROWS_WITH(dataset.get(-1), ContainsSubstring("index -1 is out of range for 3 examples"));
  CHECK_THROWS_AS(data::TensorDataset(x, arange(4)), ShapeError);
  CHECK_THROWS_AS(data::TensorDataset(tensor(1.0)), ShapeError);
}

TEST_CASE("Subset and ConcatDataset look up examples in their datasets") {
  const data::Subset subset(Numbers{10}, {7, 3, 3});
  CHECK(subset.size() == 3);
  CHECK(subset.get(0) == 7);
  CHECK(subset.get(2) == 3);
  CHECK_THROWS_AS(subset.get(3), IndexError);
  CHECK_THROWS_AS(data::Subset(Numbers{10}, {0, 10}), IndexError);
  CHECK_THROWS_AS(data::Subset(std::shared_ptr<const Numbers>(), {}), Error);

  const data::ConcatDataset both(std::vector{Numbers{2}, Numbers{0}, Numbers{3}});
  CHECK(both.size() == 5);
  const IndexList expected{0, 1, 0, 1, 2};
  for (std::int64_t i = 0; i < 5; ++i) CHECK(both.get(i) == expected[static_cast<std::size_t>(i)]);
  CHECK_THROWS_AS(both.get(5), IndexError);
  CHECK_THROWS_AS(both.get(-1), IndexError);
  CHECK_THROWS_AS(data::ConcatDataset(std::vector<Numbers>()), Error);
}

TEST_CASE("random_split returns PyTorch's parts for lengths and fractions") {
  const auto& cases = stored_orders().at("splits");
  REQUIRE(cases.size() == 7);
  const RngStateGuard guard;
  for (const auto& c : cases) {
    INFO("seed " << c["seed"]);
    manual_seed(c["seed"]);
    Generator own(c["seed"].get<std::uint64_t>());
    Generator& generator = c["own"] ? own : default_generator();
    std::vector<Scalar> lengths;
    for (const auto& length : c["lengths"]) {
      if (length.is_number_integer()) {
        lengths.emplace_back(length.get<std::int64_t>());
      } else {
        lengths.emplace_back(length.get<double>());
      }
    }
    const auto parts = data::random_split(Numbers{c["size"]}, lengths, generator);
    REQUIRE(parts.size() == c["parts"].size());
    for (std::size_t i = 0; i < parts.size(); ++i)
      CHECK(parts[i].indices() == c["parts"][i].get<IndexList>());
    CHECK(following(generator) == c["next"]);
  }
}

TEST_CASE("random_split refuses wrong lengths before it uses random numbers") {
  const RngStateGuard guard;
  const Generator before = get_rng_state();
  const Numbers ten{10};
  CHECK_THROWS_WITH(data::random_split(ten, {3, 3}),
                    ContainsSubstring("sum up to 6, not to the 10 examples"));
  CHECK_THROWS_WITH(data::random_split(ten, {9, 9}),
                    ContainsSubstring("sum up to 18, not to the 10"));
  CHECK_THROWS_WITH(data::random_split(ten, {-2, 12}),
                    ContainsSubstring("length 0 must be a whole number of at least 0, got -2"));
  CHECK_THROWS_WITH(data::random_split(ten, {1.5, -0.5}), ContainsSubstring("fraction 0 is 1.5"));
  CHECK_THROWS_WITH(data::random_split(ten, {0.5, 0.6}),
                    "[random_split] the fractions sum up to 1.1, not to 1");
  CHECK_THROWS_WITH(data::random_split(ten, {0.7, 0.1}), ContainsSubstring("sum up to 0.8"));
  CHECK_THROWS_WITH(data::random_split(ten, {2.5, 7.5}),
                    ContainsSubstring("length 0 must be a whole number of at least 0, got 2.5"));
  CHECK_THROWS_AS(data::random_split(ten, {std::numeric_limits<double>::quiet_NaN()}), Error);
  CHECK_THROWS_WITH(data::random_split(ten, {-0.5, 1.5}), ContainsSubstring("fraction 0 is -0.5"));
  CHECK_THROWS_WITH(data::random_split(ten, {1e20}),
                    ContainsSubstring("length 0 must be a whole number of at least 0, got 1e+20"));
  CHECK_THROWS_AS(data::random_split(ten, {}), Error);
  CHECK(get_rng_state() == before);
}
