// A loader's options and its state: invalid ones are refused, and a loop continues from its
// position.
#include <tend/nn/data/data_loader.h>
#include <tend/nn/data/loader_options.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/data/endless.h>
#include <tend/nn/files/safetensors.h>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/data/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using data::IndexList;
using Batches = std::vector<IndexList>;

namespace {

// A sampler of all indices in order. The first `failures` attempts to begin a pass fail.
struct Hesitant {
  std::shared_ptr<int> failures = std::make_shared<int>(0);
  std::int64_t size() const { return 10; }
  data::Stream<std::int64_t> iter() const {
    if ((*failures)-- > 0) fail("Hesitant", "not yet");
    return data::SequentialSampler(10).iter();
  }
};

}  // namespace

TEST_CASE("a killed run continues with the same bits from a saved state") {
  const RngStateGuard guard;
  TemporaryFolder folder;
  const std::string path = folder.file("loader.safetensors");
  for (const bool has_own : {false, true}) {
    for (const std::int64_t stop : {1, 4, 5}) {
      INFO("own generator " << has_own << ", stopped after batch " << stop);
      Generator own(3), fresh(99);
      manual_seed(7);
      data::DataLoaderOptions options{.batch_size = 3, .shuffle = true};
      options.generator = has_own ? &own : nullptr;
      auto loader = numbers(13, options, 2);
      static_cast<void>(batches_in(loader));
      Generator checkpoint;
      Batches expected;
      std::int64_t batches = 0;
      for (auto& batch : loader) {
        static_cast<void>(rand({2}));  // uses random numbers, as dropout does
        if (batches >= stop) expected.push_back(batch.to_vector<std::int64_t>());
        if (++batches != stop) continue;
        nn::save_safetensors(path, loader.state_dict());
        checkpoint = get_rng_state();
      }
      const Batches next_epoch = batches_in(loader);

      manual_seed(1234);
      options.generator = has_own ? &fresh : nullptr;
      auto resumed = numbers(13, options, 0);
      resumed.load_state_dict(nn::load_safetensors(path).tensors);
      set_rng_state(checkpoint);
      Batches rest;
      for (auto& batch : resumed) {
        static_cast<void>(rand({2}));
        rest.push_back(batch.to_vector<std::int64_t>());
      }
      CHECK(rest == expected);
      CHECK(batches_in(resumed) == next_epoch);
    }
  }
}

TEST_CASE("a loader continues from a state saved between two loops or within an iterable dataset") {
  const RngStateGuard guard;
  Generator own(3), fresh(4);
  const auto make = [](Generator& generator) {
    return numbers(
        9, {.batch_size = 2, .sampler = data::RandomSampler(9, {.generator = &generator})}, 0);
  };
  auto loader = make(own), resumed = make(fresh);
  static_cast<void>(batches_in(loader));
  const nn::StateDict between = loader.state_dict();
  const Batches expected = batches_in(loader);
  resumed.load_state_dict(between);
  CHECK(batches_in(resumed) == expected);

  data::DataLoader counted(Counter{7}, {.batch_size = 2});
  auto it = counted.begin();
  ++it;
  data::DataLoader again(Counter{7}, {.batch_size = 2, .num_workers = 1});
  again.load_state_dict(counted.state_dict());
  CHECK(batches_in(again) == Batches{{4, 5}, {6}});
  CHECK(batches_in(again).size() == 4);
}

TEST_CASE("a loader refuses a state that does not fit and changes nothing") {
  const RngStateGuard guard;
  Generator own(3);
  auto plain = numbers(9, {.shuffle = true}, 0);
  auto with_own = numbers(9, {.shuffle = true, .generator = &own}, 0);
  const Generator before = own;
  CHECK_THROWS_AS(with_own.load_state_dict(plain.state_dict()), IndexError);
  CHECK_THROWS_WITH(plain.load_state_dict(with_own.state_dict()),
                    ContainsSubstring("this loader needs a \"generator.loader\", because"));
  CHECK_THROWS_AS(plain.load_state_dict({}), IndexError);
  nn::StateDict state = with_own.state_dict();
  for (const std::int64_t words : {0, 3}) {
    state["generator.loader"] = zeros({words}, int64);
    CHECK_THROWS_AS(with_own.load_state_dict(state), IoError);
  }
  state = with_own.state_dict();
  state["batches"] = tensor(std::int64_t{-1});
  CHECK_THROWS_WITH(with_own.load_state_dict(state),
                    ContainsSubstring("must not be negative, got -1"));
  state["batches"] = tensor({1.0, 2.0});
  CHECK_THROWS_AS(with_own.load_state_dict(state), Error);
  state["batches"] = Tensor();
  CHECK_THROWS_AS(with_own.load_state_dict(state), Error);
  state = with_own.state_dict();
  state["generator.default"] = state["generator.default"].to(float64);
  CHECK_THROWS_AS(with_own.load_state_dict(state), DTypeError);
  CHECK(own == before);
}

TEST_CASE("a loader with other batches accepts only a state from between two loops") {
  auto loader = numbers(9, {.batch_size = 2}, 0);
  auto bigger_batches = numbers(9, {.batch_size = 3}, 0);
  auto more_examples = numbers(10, {.batch_size = 2}, 0);
  auto shuffled = numbers(9, {.batch_size = 2, .shuffle = true}, 0);
  bigger_batches.load_state_dict(loader.state_dict());
  more_examples.load_state_dict(loader.state_dict());
  shuffled.load_state_dict(loader.state_dict());
  CHECK(batches_in(more_examples).size() == 5);
  auto it = loader.begin();
  CHECK_THROWS_WITH(bigger_batches.load_state_dict(loader.state_dict()),
                    "[DataLoader::load_state_dict] a loop can only continue with the same "
                    "\"batch_size\", which is 2 in the state and 3 in this loader");
  CHECK_THROWS_WITH(more_examples.load_state_dict(loader.state_dict()),
                    ContainsSubstring("\"examples\", which is 9 in the state and 10 in this"));
  CHECK_THROWS_WITH(shuffled.load_state_dict(loader.state_dict()),
                    ContainsSubstring("\"order\", which is 0 in the state and 1 in this loader"));
  CHECK(batches_in(bigger_batches).size() == 3);
  auto same = numbers(9, {.batch_size = 2}, 0);
  same.load_state_dict(loader.state_dict());
  CHECK(batches_in(same).size() == 4);
  nn::StateDict of_version_0_1 = loader.state_dict();
  for (const char* name : {"examples", "batch_size", "order"}) of_version_0_1.erase(name);
  same.load_state_dict(of_version_0_1);
  CHECK(batches_in(same).size() == 4);
  data::DataLoader counted(Counter{9}, {.batch_size = 2});
  CHECK_THROWS_WITH(counted.load_state_dict(loader.state_dict()),
                    ContainsSubstring("\"examples\", which is 9 in the state and -1 in this"));
}

TEST_CASE("a state whose position is after the end of the dataset starts at the end") {
  const auto check = [](auto loader) {
    auto it = loader.begin();
    nn::StateDict state = loader.state_dict();
    state["batches"] = tensor(std::numeric_limits<std::int64_t>::max());
    loader.load_state_dict(state);
    CHECK(batches_in(loader).empty());
    CHECK(batches_in(loader).size() == 3);
  };
  check(data::DataLoader(Counter{5}, {.batch_size = 2}));
  check(numbers(5, {.batch_size = 2}, 0));
}

TEST_CASE("a DataLoader refuses options that contradict each other") {
  const data::SequentialSampler order(3);
  const auto check = [](const data::DataLoaderOptions& options, const char* message) {
    CHECK_THROWS_WITH(data::DataLoader(Numbers{3}, options), ContainsSubstring(message));
  };
  check({.batch_size = 0}, "batch_size must be at least 1, got 0");
  check({.num_workers = -1}, "num_workers is -1");
  check({.num_workers = 1'000'000}, "num_workers is 1000000");
  check({.generator = nullptr, .prefetch_factor = 0}, "prefetch_factor must be at least 1, got 0");
  check({.shuffle = true, .sampler = order}, "exclude each other");
  const data::BatchSampler lists(order, 1, false);
  check({.batch_size = 2, .batch_sampler = lists}, "excludes");
  check({.shuffle = true, .batch_sampler = lists}, "excludes");
  check({.sampler = order, .batch_sampler = lists}, "excludes");
  check({.batch_sampler = lists, .drop_last = true}, "excludes");
  CHECK_THROWS_AS(data::DataLoader(Numbers{0}, {.shuffle = true}), Error);
  CHECK_THROWS_WITH(data::DataLoader(Numbers{-1}, {}),
                    ContainsSubstring("the size must not be negative, got -1"));
  CHECK_THROWS_AS(data::DataLoader(Counter{3}, {.shuffle = true}), Error);
  CHECK_THROWS_AS(data::DataLoader(Counter{3}, {.sampler = order}), Error);
  CHECK_THROWS_AS(data::DataLoader(Counter{3}, {.batch_sampler = lists}), Error);
  CHECK_THROWS_AS(data::DataLoader(std::shared_ptr<Numbers>()), Error);
  data::DataLoader empty(Numbers{0}, {});
  CHECK(batches_in(empty).empty());
}

TEST_CASE("a loop that fails to begin at its restored position begins there the next time") {
  const Hesitant order;
  const auto make = [&order] {
    return data::DataLoader(Numbers{10}, {.batch_size = 2, .sampler = data::Sampler(order)});
  };
  auto loader = make();
  int batches = 0;
  nn::StateDict state;
  for (auto& batch : loader) {
    static_cast<void>(batch);
    if (++batches == 3) state = loader.state_dict();
  }
  auto restored = make();
  restored.load_state_dict(state);
  *order.failures = 2;
  data::Endless endless(restored);
  CHECK_THROWS_AS(endless.next(), Error);
  CHECK_THROWS_AS(restored.begin(), Error);
  CHECK(endless.next().to_vector<std::int64_t>() == data::IndexList{6, 7});
  CHECK(endless.next().to_vector<std::int64_t>() == data::IndexList{8, 9});
  CHECK(endless.next().to_vector<std::int64_t>() == data::IndexList{0, 1});
}
