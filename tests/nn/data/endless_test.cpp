// Endless, which starts its loader again after the last batch.
#include <cstdint>
#include <vector>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;

namespace {

struct Damaged {
  std::int64_t at;
  std::int64_t size() const { return 4; }
  std::int64_t get(std::int64_t i) const {
    if (i == at) fail("Damaged", "cannot be read");
    return i;
  }
};

// The next batches, each of one example. A batch that throws is -1.
template <class Loader>
std::vector<std::int64_t> next_batches(data::Endless<Loader>& batches, int count) {
  std::vector<std::int64_t> found;
  for (int i = 0; i < count; ++i) {
    try {
      found.push_back(batches.next().template item<std::int64_t>());
    } catch (const Error&) {
      found.push_back(-1);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("Endless continues after a batch that threw") {
  data::DataLoader loader(Damaged{1});
  data::Endless batches(loader);
  CHECK(next_batches(batches, 6) == std::vector<std::int64_t>{0, -1, 2, 3, 0, -1});
}

TEST_CASE("Endless repeats its loader and continues from a saved state") {
  data::DataLoader loader(data::TensorDataset(arange(5)), {.batch_size = 2});
  data::Endless batches(loader);
  std::vector<std::int64_t> seen;
  for (int i = 0; i < 7; ++i) {
    for (const std::int64_t x : batches.next()[0].to_vector<std::int64_t>()) seen.push_back(x);
  }
  CHECK(seen == std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
  const nn::StateDict state = loader.state_dict();
  data::DataLoader other(data::TensorDataset(arange(5)), {.batch_size = 2});
  data::Endless resumed(other);
  other.load_state_dict(state);
  CHECK(resumed.next()[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 3});
  resumed.next();
  other.load_state_dict(state);
  CHECK(resumed.next()[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 3});

  data::DataLoader nothing(data::TensorDataset(arange(1)), {.batch_size = 2, .drop_last = true});
  data::Endless none(nothing);
  CHECK_THROWS_WITH(none.next(), "[Endless] the loader has no batches");
}
