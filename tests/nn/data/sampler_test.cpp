#include <tend/nn/data/sampler.h>

#include <nlohmann/json.hpp>
#include <vector>

#include <tend/autograd/ops/ops.h>

#include "tests/catch.h"
#include "tests/nn/data/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using data::IndexList;

TEST_CASE("RandomSampler has PyTorch's order and leaves the generators in PyTorch's state") {
  const auto& cases = stored_orders().at("random_samplers");
  REQUIRE(cases.size() == 9);
  const RngStateGuard guard;
  for (const auto& c : cases) {
    INFO("seed " << c["seed"]);
    manual_seed(c["seed"]);
    Generator own(c["seed"].get<std::uint64_t>());
    data::RandomSamplerOptions options{.replacement = c["replacement"],
                                       .generator = c["own"] ? &own : nullptr};
    if (!c["num_samples"].is_null()) options.num_samples = c["num_samples"].get<std::int64_t>();
    const data::RandomSampler sampler(c["size"], options);
    for (const auto& pass : c["passes"]) {
      CHECK(sampler.size() == static_cast<std::int64_t>(pass.size()));
      CHECK(all_of(sampler.iter()) == pass.get<IndexList>());
    }
    // If the sampler has no own generator, both numbers are from the default generator.
    CHECK(following() == c["next"]);
    CHECK(following(c["own"] ? own : default_generator()) == c["own_next"]);
  }
}

TEST_CASE("SubsetRandomSampler and WeightedRandomSampler have PyTorch's orders") {
  const auto& c = stored_orders().at("other_samplers");
  const RngStateGuard guard;
  manual_seed(c["seed"]);
  const data::SubsetRandomSampler subset({4, 9, 2, 7, 7, 30});
  const Tensor weights = tensor({0.5, 0.0, 3.0, 1.25, 0.1}, float64);
  const data::WeightedRandomSampler weighted(weights, 12);
  const data::WeightedRandomSampler without(weights, 4, false);
  const auto& passes = c["passes"];
  REQUIRE(passes.size() == 6);
  CHECK(all_of(subset.iter()) == passes[0].get<IndexList>());
  CHECK(all_of(subset.iter()) == passes[1].get<IndexList>());
  CHECK(all_of(weighted.iter()) == passes[2].get<IndexList>());
  CHECK(all_of(weighted.iter()) == passes[3].get<IndexList>());
  CHECK(all_of(without.iter()) == passes[4].get<IndexList>());
  CHECK(all_of(without.iter()) == passes[5].get<IndexList>());
}

TEST_CASE("a sampler uses no random number before its first index and ends after its last") {
  const RngStateGuard guard;
  const Generator before = get_rng_state();
  data::Stream<std::int64_t> next = data::RandomSampler(2).iter();
  CHECK(get_rng_state() == before);
  CHECK(next().has_value());
  CHECK(get_rng_state() != before);
  CHECK(next().has_value());
  for (int i = 0; i < 3; ++i) CHECK(!next().has_value());
}

TEST_CASE("BatchSampler makes batches of any sampler") {
  const data::BatchSampler all(data::SequentialSampler(7), 3, false);
  CHECK(all.size() == 3);
  CHECK(all_of(all.iter()) == std::vector<IndexList>{{0, 1, 2}, {3, 4, 5}, {6}});
  const data::BatchSampler whole(data::SequentialSampler(7), 3, true);
  CHECK(whole.size() == 2);
  CHECK(all_of(whole.iter()) == std::vector<IndexList>{{0, 1, 2}, {3, 4, 5}});
  const data::BatchSampler none(data::SequentialSampler(0), 3, false);
  CHECK(none.size() == 0);
  CHECK(all_of(none.iter()).empty());
}

TEST_CASE("samplers refuse invalid sizes and weights") {
  CHECK_THROWS_WITH(data::RandomSampler(0),
                    ContainsSubstring("number of samples must be at least 1, got 0"));
  CHECK_THROWS_WITH(data::RandomSampler(0, {.num_samples = 3}),
                    ContainsSubstring("the size must be at least 1, got 0"));
  CHECK_THROWS_WITH(data::RandomSampler(3, {.num_samples = -1}), ContainsSubstring("got -1"));
  CHECK_THROWS_WITH(data::SequentialSampler(-1),
                    ContainsSubstring("the size must not be negative, got -1"));
  CHECK_THROWS_WITH(data::BatchSampler(data::SequentialSampler(3), 0, false),
                    ContainsSubstring("batch size must be at least 1, got 0"));
  CHECK_THROWS_AS(data::WeightedRandomSampler(ones({2, 2}), 3), ShapeError);
  CHECK_THROWS_WITH(data::WeightedRandomSampler(ones({2}), 0),
                    ContainsSubstring("samples must be at least 1, got 0"));
  CHECK_THROWS_AS(data::WeightedRandomSampler(-ones({2}), 1).iter()(), Error);
  CHECK_THROWS_AS(data::WeightedRandomSampler(ones({2}), 3, false).iter()(), Error);
}
