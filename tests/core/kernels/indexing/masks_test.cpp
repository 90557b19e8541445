// Reading and writing the elements that a mask selects, also for large masks that threads share.
#include <tend/core/kernels/indexing/masks.h>
#include <tend/core/threads/parallel.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("bool elements that are accumulated at a mask are combined by or") {
  const Array truths = array_of<bool>({false, false, true, true, false});
  const Array mask = array_of<bool>({true, true, true, true, false});
  kernels::put_masked(truths, mask, array_of<bool>({false, true, false, true}), true);
  CHECK(truths.to_vector<bool>() == std::vector<bool>{false, true, true, true, false});
}

TEST_CASE("a large mask selects the same elements for any number of threads") {
  const std::int64_t rows = 700, columns = 301, count = rows * columns;
  std::vector<double> values(static_cast<std::size_t>(count)), chosen, filled, added, places;
  std::vector<double> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i);
    bits[i] = i * 7919 % 13 < 5 ? 1 : 0;
    const double next = static_cast<double>(chosen.size());
    filled.push_back(bits[i] != 0 ? -next : values[i]);
    added.push_back(bits[i] != 0 ? values[i] - next : values[i]);
    if (bits[i] == 0) continue;
    chosen.push_back(values[i]);
    for (const std::size_t place : {i / columns, i % columns})
      places.push_back(static_cast<double>(place));
  }
  const Array a = Array::from<double>(values, {rows, columns});
  const Array mask = Array::from<double>(bits, {rows, columns}).to(boolean);
  const auto found = static_cast<std::int64_t>(chosen.size());
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    REQUIRE(kernels::count_nonzero(mask) == found);
    const Array out = Array::empty({found}, float64);
    kernels::take_masked(out, a, mask);
    CHECK(out.to_vector<double>() == chosen);
    kernels::take_masked(out, a.transpose(0, 1).contiguous().transpose(0, 1), mask);
    CHECK(out.to_vector<double>() == chosen);
    const Array indices = Array::empty({found, 2}, int64);
    kernels::nonzero(indices, mask);
    CHECK(indices.to(float64).to_vector<double>() == places);
    std::vector<double> numbers(chosen.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = -static_cast<double>(i);
    const Array terms = Array::from<double>(numbers, {found});
    for (const bool accumulate : {false, true}) {
      const Array whole = a.clone();
      kernels::put_masked(whole, mask, terms, accumulate);
      CHECK(whole.to_vector<double>() == (accumulate ? added : filled));
    }
  }
  set_num_threads(before);
}
