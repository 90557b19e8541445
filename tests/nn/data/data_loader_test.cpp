#include <tend/nn/data/data_loader.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/data/endless.h>
#include <tend/nn/files/safetensors.h>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/data/fixtures.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using data::IndexList;
using Batches = std::vector<IndexList>;

namespace {

// A loop's batches, loaded by this many workers.
data::DataLoader<Numbers> numbers(std::int64_t size, data::DataLoaderOptions options,
                                  std::int64_t workers) {
  options.num_workers = workers;
  return data::DataLoader(Numbers{size}, options);
}

struct Drawing {
  std::int64_t size() const { return 20; }
  std::int64_t get(std::int64_t index, Generator& generator) const {
    return static_cast<std::int64_t>(generator.u32()) * 32 + index;
  }
};

struct Broken {
  std::int64_t size() const { return 12; }
  std::int64_t get(std::int64_t index) const {
    if (index == 5) throw IoError("no such picture");
    if (index == 10) throw std::runtime_error("foreign");
    return index;
  }
};

struct Slow {
  std::atomic<int>* calls;
  std::int64_t size() const { return 1000; }
  std::int64_t get(std::int64_t index) const {
    ++*calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return index;
  }
};

// Counts up to `end`, anew after each reset.
struct Counter {
  std::int64_t end = 0, next_number = 0;
  void reset() { next_number = 0; }
  std::optional<std::int64_t> next() {
    if (next_number == end) return std::nullopt;
    return next_number++;
  }
};

struct Recording {
  Tensor weight;
  std::int64_t size() const { return 4; }
  Tensor get(std::int64_t index) const { return weight * index; }
};

}  // namespace

TEST_CASE("a DataLoader gives PyTorch's batches, epoch after epoch, for any number of workers") {
  const auto& cases = stored_orders().at("loaders");
  REQUIRE(cases.size() == 11);
  const RngStateGuard guard;
  for (const auto& c : cases) {
    for (const std::int64_t workers : {0, 1, 2, 5}) {
      INFO("seed " << c["seed"] << ", " << workers << " workers");
      manual_seed(c["seed"]);
      Generator own(c["seed"].get<std::uint64_t>());
      auto loader = numbers(c["size"],
                            {.batch_size = c["batch_size"],
                             .shuffle = c["shuffle"],
                             .drop_last = c["drop_last"],
                             .generator = c["own"] ? &own : nullptr},
                            workers);
      for (const auto& epoch : c["epochs"]) {
        CHECK(loader.size() == static_cast<std::int64_t>(epoch.size()));
        CHECK(batches_in(loader) == epoch.get<Batches>());
      }
      CHECK(following() == c["next"]);
      CHECK(following(c["own"] ? own : default_generator()) == c["own_next"]);
    }
  }
}

TEST_CASE("a DataLoader takes its order from a sampler, or its batches from one of batches") {
  const auto& c = stored_orders().at("other_samplers");
  const RngStateGuard guard;
  manual_seed(c["seed"]);
  const Tensor weights = tensor({0.5, 0.0, 3.0, 1.25, 0.1}, float64);
  const data::WeightedRandomSampler weighted(weights, 12);
  // What the script draws before.
  for (int i = 0; i < 2; ++i) static_cast<void>(data::SubsetRandomSampler(IndexList(6)).iter()());
  for (int i = 0; i < 2; ++i) static_cast<void>(weighted.iter()());
  for (int i = 0; i < 2; ++i)
    static_cast<void>(data::WeightedRandomSampler(weights, 4, false).iter()());
  auto loader = numbers(5, {.batch_size = 5, .sampler = weighted}, 2);
  for (const auto& epoch : c["loader"]) CHECK(batches_in(loader) == epoch.get<Batches>());
  CHECK(following() == c["next"]);

  struct Lists {
    std::int64_t size() const { return 2; }
    data::Stream<IndexList> iter() const {
      return [next = 0]() mutable -> std::optional<IndexList> {
        if (next == 2) return std::nullopt;
        return next++ == 0 ? IndexList{3, 1} : IndexList{4};
      };
    }
  };
  auto by_list = numbers(5, {.batch_sampler = Lists()}, 1);
  CHECK(batches_in(by_list) == Batches{{3, 1}, {4}});
}

TEST_CASE("a loop over tensors is short to write") {
  const Tensor x = arange(10).reshape({5, 2}), y = arange(5);
  const data::TensorDataset dataset(x, y);
  std::int64_t seen = 0;
  for (auto& [inputs, targets] : data::DataLoader(dataset, {.batch_size = 2, .shuffle = true})) {
    CHECK(inputs.select(1, 0).to_vector<std::int64_t>() == (targets * 2).to_vector<std::int64_t>());
    seen += targets.size(0);
  }
  CHECK(seen == 5);
  const auto sum = [](const std::vector<std::int64_t>& examples) {
    return examples.front() + examples.back();
  };
  std::vector<std::int64_t> sums;
  for (const std::int64_t s : data::DataLoader(Numbers{4}, {.batch_size = 2}, sum))
    sums.push_back(s);
  CHECK(sums == std::vector<std::int64_t>{1, 5});
}

TEST_CASE("what a dataset draws is the same for any number of workers, and new in each epoch") {
  const RngStateGuard guard;
  std::set<Batches> different;
  for (const std::int64_t workers : {0, 1, 3}) {
    manual_seed(5);
    data::DataLoader loader(Drawing{}, {.batch_size = 4, .shuffle = true, .num_workers = workers});
    Batches two = batches_in(loader);
    const Batches second = batches_in(loader);
    CHECK(two != second);
    two.insert(two.end(), second.begin(), second.end());
    different.insert(two);
  }
  CHECK(different.size() == 1);
}

TEST_CASE("an error comes out of the loop at its batch, with its kind, the batch and the index") {
  for (const std::int64_t workers : {0, 1, 4}) {
    data::DataLoader loader(Broken{}, {.batch_size = 2, .num_workers = workers});
    auto it = loader.begin();
    CHECK((*it).to_vector<std::int64_t>() == IndexList{0, 1});
    ++it;
    CHECK((*it).to_vector<std::int64_t>() == IndexList{2, 3});
    try {
      ++it;
      FAIL("nothing was thrown");
    } catch (const IoError& error) {
      CHECK(std::string(error.what()) == "[DataLoader] batch 2, index 5: no such picture");
      CHECK_THROWS_WITH(std::rethrow_if_nested(error), "no such picture");
    }
    ++it;  // goes on behind it
    CHECK((*it).to_vector<std::int64_t>() == IndexList{6, 7});
    ++it;
    CHECK_THROWS_AS(++it, Error);
    ++it;
    CHECK(it == loader.end());

    data::DataLoader uneven(
        data::TensorDataset(arange(3)), {.batch_size = 2, .num_workers = workers},
        [](const std::vector<std::array<Tensor, 1>>&) -> Tensor { return arange(2) + arange(3); });
    CHECK_THROWS_AS(uneven.begin(), ShapeError);
    CHECK_THROWS_WITH(uneven.begin(), ContainsSubstring("[DataLoader] batch 0: [add]"));
  }
}

TEST_CASE("what a sampler throws comes out at its batch") {
  struct Short {
    std::int64_t size() const { return 3; }
    data::Stream<std::int64_t> iter() const {
      return [next = 0]() mutable -> std::optional<std::int64_t> {
        if (next == 2) throw std::runtime_error("no more");
        return next++;
      };
    }
  };
  for (const std::int64_t workers : {0, 2}) {
    auto loader = numbers(3, {.batch_size = 1, .sampler = Short()}, workers);
    auto it = loader.begin();
    ++it;
    CHECK((*it).item<std::int64_t>() == 1);
    CHECK_THROWS_WITH(++it, "no more");
  }
}

TEST_CASE("a loop that ends early joins its workers and leaves the rest alone") {
  std::atomic<int> calls = 0;
  for (int i = 0; i < 5; ++i) {
    data::DataLoader loader(Slow{&calls}, {.batch_size = 2, .num_workers = 3});
    int batches = 0;
    for (auto& batch : loader) {
      static_cast<void>(batch);
      if (++batches == 2) break;
    }
    const int at_end = calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(calls == at_end);  // nobody works any more
  }
  // Of 500 batches a loop starts those that it took and 3 workers x 2 ahead.
  CHECK(calls <= 5 * 2 * (2 + 3 * 2));
}

TEST_CASE("loops over one loader may overlap, and the loader may go before its loop") {
  auto loader = numbers(6, {.batch_size = 2}, 2);
  auto first = loader.begin();
  CHECK(batches_in(loader) == Batches{{0, 1}, {2, 3}, {4, 5}});
  ++first;
  CHECK((*first).to_vector<std::int64_t>() == IndexList{2, 3});
  auto left = numbers(6, {.batch_size = 2}, 2).begin();
  ++left;
  CHECK((*left).to_vector<std::int64_t>() == IndexList{2, 3});
}

TEST_CASE("an iterable dataset keeps its order, and begins anew where it can") {
  const RngStateGuard guard;
  for (const std::int64_t workers : {0, 1, 3}) {
    data::DataLoader loader(Counter{7}, {.batch_size = 3, .num_workers = workers});
    for (int epoch = 0; epoch < 2; ++epoch)
      CHECK(batches_in(loader) == Batches{{0, 1, 2}, {3, 4, 5}, {6}});
    data::DataLoader whole(Counter{7},
                           {.batch_size = 3, .num_workers = workers, .drop_last = true});
    CHECK(batches_in(whole) == Batches{{0, 1, 2}, {3, 4, 5}});
    data::DataLoader none(Counter{0}, {.num_workers = workers});
    CHECK(batches_in(none).empty());
  }
}

TEST_CASE("batches are made without grad and inference mode, on every thread") {
  const InferenceModeGuard inference;
  const Tensor weight = [] {
    const InferenceModeGuard off(false);
    return ones({2}).requires_grad_();
  }();
  for (const std::int64_t workers : {0, 2}) {
    for (const Tensor& batch : data::DataLoader(Recording{weight}, {.num_workers = workers})) {
      CHECK(!batch.requires_grad());
      const InferenceModeGuard off(false);
      // An inference tensor could not be saved for backward.
      CHECK_NOTHROW((batch * weight).sum().backward());
    }
  }
}

TEST_CASE("a killed run goes on with the same bits from a saved state") {
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
        static_cast<void>(rand({2}));  // as dropout would
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

TEST_CASE("a state between two loops, of an own sampler, or of an iterable dataset goes on, too") {
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

TEST_CASE("a state that does not fit is refused, and changes nothing") {
  const RngStateGuard guard;
  Generator own(3);
  auto plain = numbers(9, {.shuffle = true}, 0);
  auto with_own = numbers(9, {.shuffle = true, .generator = &own}, 0);
  const Generator before = own;
  CHECK_THROWS_AS(with_own.load_state_dict(plain.state_dict()), IndexError);
  CHECK_THROWS_WITH(plain.load_state_dict(with_own.state_dict()),
                    ContainsSubstring("this loader has none"));
  CHECK_THROWS_AS(plain.load_state_dict({}), IndexError);
  nn::StateDict state = with_own.state_dict();
  state["generator.loader"] = zeros({3}, int64);
  CHECK_THROWS_AS(with_own.load_state_dict(state), IoError);
  state = with_own.state_dict();
  state["batches"] = tensor(std::int64_t{2});
  CHECK_THROWS_WITH(with_own.load_state_dict(state), ContainsSubstring("outside of a pass"));
  CHECK(own == before);
}

TEST_CASE(
    "a place within a loop is refused by a loader of other passes, one between loops is not") {
  auto loader = numbers(9, {.batch_size = 2}, 0);
  auto bigger_batches = numbers(9, {.batch_size = 3}, 0);
  auto more_examples = numbers(10, {.batch_size = 2}, 0);
  auto shuffled = numbers(9, {.batch_size = 2, .shuffle = true}, 0);
  bigger_batches.load_state_dict(loader.state_dict());
  more_examples.load_state_dict(loader.state_dict());
  shuffled.load_state_dict(loader.state_dict());
  CHECK(batches_in(more_examples).size() == 5);
  auto it = loader.begin();
  CHECK_THROWS_WITH(
      bigger_batches.load_state_dict(loader.state_dict()),
      ContainsSubstring("the state is of a pass over 9 examples in batches of 2, in order, "
                        "this loader makes a pass over 9 examples in batches of 3"));
  CHECK_THROWS_WITH(more_examples.load_state_dict(loader.state_dict()),
                    ContainsSubstring("makes a pass over 10 examples"));
  CHECK_THROWS_WITH(shuffled.load_state_dict(loader.state_dict()),
                    ContainsSubstring("batches of 2, shuffled"));
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
                    ContainsSubstring("this loader makes a pass over an iterable dataset"));
}

TEST_CASE("a place far behind the end of an iterable dataset is its end") {
  data::DataLoader loader(Counter{5}, {.batch_size = 2});
  auto it = loader.begin();
  nn::StateDict state = loader.state_dict();
  state["batches"] = tensor(std::numeric_limits<std::int64_t>::max());
  loader.load_state_dict(state);
  CHECK(batches_in(loader).empty());
}

TEST_CASE("a DataLoader refuses options that contradict each other") {
  const data::SequentialSampler order(3);
  const auto check = [](const data::DataLoaderOptions& options, const char* message) {
    CHECK_THROWS_WITH(data::DataLoader(Numbers{3}, options), ContainsSubstring(message));
  };
  check({.batch_size = 0}, "batch_size is 0");
  check({.num_workers = -1}, "num_workers is -1");
  check({.prefetch_factor = 0}, "prefetch_factor is 0");
  check({.shuffle = true, .sampler = order}, "exclude each other");
  check({.batch_size = 2, .batch_sampler = data::BatchSampler(order, 1, false)}, "excludes");
  CHECK_THROWS_AS(data::DataLoader(Numbers{0}, {.shuffle = true}), Error);
  CHECK_THROWS_AS(data::DataLoader(Counter{3}, {.shuffle = true}), Error);
  CHECK_THROWS_AS(data::DataLoader(std::shared_ptr<Numbers>()), Error);
  data::DataLoader empty(Numbers{0}, {});
  CHECK(batches_in(empty).empty());
}

#if TEND_TEST_FORK

TEST_CASE("in the child of a fork a loop goes on without the parent's workers") {
  std::atomic<int> calls = 0;
  data::DataLoader loader(Slow{&calls}, {.batch_size = 2, .num_workers = 3});
  auto it = loader.begin();
  const int status = status_of_child([&] {
    for (std::int64_t i = 0; i < 20; ++i, ++it) {
      if ((*it).to_vector<std::int64_t>() != IndexList{2 * i, 2 * i + 1}) return false;
    }
    { auto ended = std::move(it); }  // and is destroyed
    auto fresh = numbers(6, {.batch_size = 3}, 2);
    return batches_in(fresh) == Batches{{0, 1, 2}, {3, 4, 5}};
  });
  CHECK(status == 0);
  ++it;
  CHECK((*it).to_vector<std::int64_t>() == IndexList{2, 3});
}

#endif

namespace {

// Example i is the number i; the first attempts at one of them fail.
struct Hesitant {
  std::shared_ptr<int> failures = std::make_shared<int>(0);
  std::int64_t size() const { return 10; }
  std::int64_t get(std::int64_t index) const {
    if (index == 6 && (*failures)-- > 0) fail("Hesitant", "not yet");
    return index;
  }
};

}  // namespace

TEST_CASE("a loop that cannot begin at its restored place begins there the next time") {
  const Hesitant dataset;
  data::DataLoader<Hesitant> loader(dataset, {.batch_size = 2});
  int batches = 0;
  nn::StateDict state;
  for (auto& batch : loader) {
    static_cast<void>(batch);
    if (++batches == 3) state = loader.state_dict();
  }
  data::DataLoader<Hesitant> restored(dataset, {.batch_size = 2});
  restored.load_state_dict(state);
  *dataset.failures = 2;
  data::Endless endless(restored);
  CHECK_THROWS_AS(endless.next(), Error);
  CHECK_THROWS_AS(restored.begin(), Error);
  CHECK(endless.next().to_vector<std::int64_t>() == data::IndexList{6, 7});
  CHECK(endless.next().to_vector<std::int64_t>() == data::IndexList{8, 9});
  CHECK(endless.next().to_vector<std::int64_t>() == data::IndexList{0, 1});

  // One that was not restored stands where it stood, its generator too.
  Generator generator(5);
  data::DataLoader<Hesitant> shuffled(dataset,
                                      {.batch_size = 10, .shuffle = true, .generator = &generator});
  const nn::StateDict before = shuffled.state_dict();
  *dataset.failures = 1;
  CHECK_THROWS_AS(shuffled.begin(), Error);
  const nn::StateDict after = shuffled.state_dict();
  REQUIRE(after.size() == before.size());
  for (const auto& [name, tensor] : before) CHECK(equal(after.at(name), tensor));
}
