// Loops over a DataLoader: their order, their workers and their errors.
#include <tend/nn/data/data_loader.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tend/autograd/ops/ops.h>

#include "tests/catch.h"
#include "tests/nn/data/fixtures.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using data::IndexList;
using Batches = std::vector<IndexList>;

namespace {

struct RandomNumbers {
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

struct Recording {
  Tensor weight;
  std::int64_t size() const { return 4; }
  Tensor get(std::int64_t index) const { return weight * index; }
};

}  // namespace

TEST_CASE("a DataLoader has PyTorch's batches in every epoch with any number of workers") {
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

TEST_CASE("a DataLoader uses a sampler for its order or a batch sampler for its batches") {
  const auto& c = stored_orders().at("other_samplers");
  const RngStateGuard guard;
  manual_seed(c["seed"]);
  const Tensor weights = tensor({0.5, 0.0, 3.0, 1.25, 0.1}, float64);
  const data::WeightedRandomSampler weighted(weights, 12);
  // The script that made the fixture used these random numbers first.
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

TEST_CASE("a loop over the rows of tensors is one line, and a function can collate the batches") {
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

TEST_CASE("a dataset's random numbers are new in each epoch and do not depend on the workers") {
  const RngStateGuard guard;
  std::set<Batches> different;
  for (const std::int64_t workers : {0, 1, 3}) {
    manual_seed(5);
    data::DataLoader loader(RandomNumbers{},
                            {.batch_size = 4, .shuffle = true, .num_workers = workers});
    Batches two = batches_in(loader);
    const Batches second = batches_in(loader);
    CHECK(two != second);
    two.insert(two.end(), second.begin(), second.end());
    different.insert(two);
  }
  CHECK(different.size() == 1);
}

TEST_CASE("a dataset's error ends the loop at its batch and names the batch and the index") {
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
    CHECK_THROWS_WITH(*it, "[DataLoader] the iterator has no batch here");
    ++it;  // continues after the batch that failed
    CHECK((*it).to_vector<std::int64_t>() == IndexList{6, 7});
    ++it;
    CHECK_THROWS_AS(++it, Error);
    ++it;
    CHECK(it == loader.end());
    CHECK_THROWS_WITH(*it, "[DataLoader] the iterator has no batch here");

    data::DataLoader uneven(
        data::TensorDataset(arange(3)), {.batch_size = 2, .num_workers = workers},
        [](const std::vector<std::array<Tensor, 1>>&) -> Tensor { return arange(2) + arange(3); });
    CHECK_THROWS_AS(uneven.begin(), ShapeError);
    CHECK_THROWS_WITH(uneven.begin(), ContainsSubstring("[DataLoader] batch 0: [add]"));
  }
}

TEST_CASE("an exception of a sampler reaches the caller of the loop") {
  struct Short {
    std::int64_t size() const { return 3; }
    data::Stream<std::int64_t> iter() const {
      return [next = 0]() mutable -> std::optional<std::int64_t> {
        if (next == 2) throw std::runtime_error("no more");
        return next++;
      };
    }
  };
  auto loader = numbers(3, {.batch_size = 1, .sampler = Short()}, 0);
  auto it = loader.begin();
  ++it;
  CHECK((*it).item<std::int64_t>() == 1);
  CHECK_THROWS_WITH(++it, "no more");
  CHECK(it == loader.end());
  auto ahead = numbers(3, {.batch_size = 1, .sampler = Short()}, 2);
  CHECK_THROWS_WITH(batches_in(ahead), "no more");
}

TEST_CASE("a loader of an iterable dataset continues after a batch that threw") {
  struct Stumbling : Counter {
    std::optional<std::int64_t> next() {
      const std::optional<std::int64_t> number = Counter::next();
      if (number == 2) throw std::runtime_error("a bad example");
      return number;
    }
  };
  data::DataLoader loader(Stumbling{{7}}, {.batch_size = 2});
  auto it = loader.begin();
  CHECK_THROWS_WITH(++it, ContainsSubstring("a bad example"));
  const nn::StateDict after = loader.state_dict();  // a position after the batch that failed
  ++it;
  const data::IndexList third = (*it).to_vector<std::int64_t>();
  const nn::StateDict state = loader.state_dict();
  ++it;
  const data::IndexList fourth = (*it).to_vector<std::int64_t>();
  CHECK(third == data::IndexList{3, 4});
  loader.load_state_dict(state);
  auto again = loader.begin();
  CHECK((*again).to_vector<std::int64_t>() == fourth);
  loader.load_state_dict(after);
  auto resumed = loader.begin();
  CHECK((*resumed).to_vector<std::int64_t>() == third);
}

TEST_CASE("a loop that ends early joins its workers and loads no further batches") {
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
    CHECK(calls == at_end);  // no worker is running
  }
  // Of 500 batches, a loop starts the two that it uses and two ahead for each of 3 workers.
  CHECK(calls <= 5 * 2 * (2 + 3 * 2));
}

TEST_CASE("loops over one loader may overlap and outlive the loader") {
  auto loader = numbers(6, {.batch_size = 2}, 2);
  auto first = loader.begin();
  CHECK(batches_in(loader) == Batches{{0, 1}, {2, 3}, {4, 5}});
  ++first;
  CHECK((*first).to_vector<std::int64_t>() == IndexList{2, 3});
  auto left = numbers(6, {.batch_size = 2}, 2).begin();
  ++left;
  CHECK((*left).to_vector<std::int64_t>() == IndexList{2, 3});
}

TEST_CASE("an iterable dataset keeps its order and restarts if it has a reset") {
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

TEST_CASE("batches are made in no-grad mode on every thread") {
  const Tensor weight = ones({2}).requires_grad_();
  for (const std::int64_t workers : {0, 2}) {
    for (const Tensor& batch : data::DataLoader(Recording{weight}, {.num_workers = workers}))
      CHECK(!batch.requires_grad());
  }
}

TEST_CASE("a loop uses the size of a shared dataset at the loop's beginning") {
  struct Growing {
    std::shared_ptr<std::vector<std::int64_t>> all;
    std::int64_t size() const { return std::ssize(*all); }
    std::int64_t get(std::int64_t i) const { return all->at(static_cast<std::size_t>(i)); }
  };
  const auto all = std::make_shared<std::vector<std::int64_t>>(std::vector<std::int64_t>{1, 2, 3});
  for (const bool shuffles : {false, true}) {
    all->resize(3);
    data::DataLoader loader(Growing{all}, {.batch_size = 2, .shuffle = shuffles});
    CHECK(loader.size() == 2);
    all->push_back(4);
    all->push_back(5);
    CHECK(loader.size() == 3);
    std::set<std::int64_t> seen;
    for (const Tensor& batch : loader) {
      for (const std::int64_t x : batch.to_vector<std::int64_t>()) seen.insert(x);
    }
    CHECK(seen == std::set<std::int64_t>{1, 2, 3, 4, 5});
  }
}
