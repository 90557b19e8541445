// Shared by the tests of nn/data: PyTorch's stored orders, and simple datasets.
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

/// The content of tests/data/data.json.
inline const nlohmann::json& stored_orders() {
  static const nlohmann::json all =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/data.json"));
  return all;
}

/// A dataset whose example i is the number i.
struct Numbers {
  std::int64_t count = 0;
  std::int64_t size() const { return count; }
  std::int64_t get(std::int64_t index) const { return index; }
};

/// An iterable dataset of the numbers below `end`. It starts again from 0 after reset().
struct Counter {
  std::int64_t end = 0, next_number = 0;
  void reset() { next_number = 0; }
  std::optional<std::int64_t> next() {
    if (next_number == end) return std::nullopt;
    return next_number++;
  }
};

/// A loader of the numbers below `size`, with this number of workers.
inline data::DataLoader<Numbers> numbers(std::int64_t size, data::DataLoaderOptions options,
                                         std::int64_t workers) {
  options.num_workers = workers;
  return data::DataLoader(Numbers{size}, options);
}

/// The generator's next random number, in the form that the stored data has.
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

/// The batches of one loop, as lists of numbers.
template <class Loader>
std::vector<data::IndexList> batches_in(Loader& loader) {
  std::vector<data::IndexList> batches;
  for (auto& batch : loader) batches.push_back(batch.template to_vector<std::int64_t>());
  return batches;
}

}  // namespace tend::test
