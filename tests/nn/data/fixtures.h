// What the tests of nn/data have in common: PyTorch's stored orders, and datasets that are as
// simple as can be.
#pragma once

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include <tend/autograd/ops/random.h>
#include <tend/nn/data/data_loader.h>
#include <tend/nn/data/sampler.h>

namespace tend::test {

/// Of tests/data/data.json.
inline const nlohmann::json& stored_orders() {
  static const nlohmann::json all =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/data.json"));
  return all;
}

/// Example i is the number i.
struct Numbers {
  std::int64_t count = 0;
  std::int64_t size() const { return count; }
  std::int64_t get(std::int64_t index) const { return index; }
};

/// Counts up to `end`, anew after each reset.
struct Counter {
  std::int64_t end = 0, next_number = 0;
  void reset() { next_number = 0; }
  std::optional<std::int64_t> next() {
    if (next_number == end) return std::nullopt;
    return next_number++;
  }
};

/// Loads the numbers below `size` with this many workers.
inline data::DataLoader<Numbers> numbers(std::int64_t size, data::DataLoaderOptions options,
                                         std::int64_t workers) {
  options.num_workers = workers;
  return data::DataLoader(Numbers{size}, options);
}

/// The generator's next number, as the fixtures have it.
inline std::int64_t following(Generator& generator = default_generator()) {
  return randint(std::int64_t{1} << 30, Shape{1}, int64, generator).item<std::int64_t>();
}

/// All elements of one pass.
template <class T>
std::vector<T> all_of(data::Stream<T> next) {
  std::vector<T> elements;
  while (std::optional<T> element = next()) elements.push_back(*element);
  return elements;
}

/// The batches of numbers of one loop.
template <class Loader>
std::vector<data::IndexList> batches_in(Loader& loader) {
  std::vector<data::IndexList> batches;
  for (auto& batch : loader) batches.push_back(batch.template to_vector<std::int64_t>());
  return batches;
}

}  // namespace tend::test
