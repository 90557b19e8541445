#include <tend/nn/data/dataset.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <tend/autograd/ops/random.h>

namespace tend::data {
namespace {

constexpr const char* kSplit = "random_split";

// True if the sum is close to 1, as in Python's math.isclose(sum, 1), and not above 1. As in
// Python, the sum is computed with more bits than its terms have, so that ten times 0.1 is 1.
bool are_fractions(const std::vector<Scalar>& lengths) {
  long double exact = 0;
  for (const Scalar& length : lengths) exact += length.to<double>();
  const double sum = static_cast<double>(exact);
  return sum <= 1 && 1 - sum <= 1e-9;
}

std::vector<std::int64_t> lengths_of_fractions(std::int64_t size,
                                               const std::vector<Scalar>& fractions) {
  std::vector<std::int64_t> lengths;
  std::int64_t left = size;
  for (const Scalar& scalar : fractions) {
    const double fraction = scalar.to<double>();
    if (!(fraction >= 0 && fraction <= 1))
      fail(kSplit, "fraction ", lengths.size(), " is ", fraction, ", not from 0 to 1");
    lengths.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(size) * fraction)));
    left -= lengths.back();
  }
  // The parts get the remaining examples in turn.
  const std::int64_t parts = std::ssize(lengths);
  for (std::int64_t i = 0; i < parts; ++i)
    lengths[static_cast<std::size_t>(i)] += left / parts + (i < left % parts ? 1 : 0);
  return lengths;
}

std::vector<std::int64_t> whole_lengths(const std::vector<Scalar>& scalars) {
  const auto is_part = [](const Scalar& length) {
    const double value = length.to<double>();
    return value > 0 && value < 1;
  };
  if (std::any_of(scalars.begin(), scalars.end(), is_part)) {
    double sum = 0;
    for (const Scalar& scalar : scalars) sum += scalar.to<double>();
    fail(kSplit, "the fractions sum up to ", sum, ", not to 1");
  }
  std::vector<std::int64_t> lengths;
  for (const Scalar& scalar : scalars) {
    const double value = scalar.to<double>();
    if (!(value >= 0 && value < 0x1p53) || value != std::floor(value))
      fail(kSplit, "length ", lengths.size(), " must be a whole number of at least 0, got ", value);
    lengths.push_back(scalar.to<std::int64_t>());
  }
  return lengths;
}

}  // namespace

void detail::check_index(const char* operation, std::int64_t index, std::int64_t size) {
  if (index < 0 || index >= size)
    fail<IndexError>(operation, "index ", index, " is out of range for ", size, " examples");
}

std::int64_t detail::rows_of(const Tensor* tensors, std::size_t count) {
  for (const Tensor& tensor : std::span(tensors, count)) {
    if (tensor.dim() == 0) fail<ShapeError>("TensorDataset", "a tensor of shape () has no rows");
    if (tensor.size(0) != tensors->size(0))
      fail<ShapeError>("TensorDataset", "the first dimensions differ: ", tensors->shape(), " and ",
                       tensor.shape());
  }
  return count == 0 ? 0 : tensors->size(0);
}

std::vector<IndexList> detail::split_indices(std::int64_t size, const std::vector<Scalar>& scalars,
                                             Generator& generator) {
  const std::vector<std::int64_t> lengths =
      are_fractions(scalars) ? lengths_of_fractions(size, scalars) : whole_lengths(scalars);
  const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (sum != size) fail(kSplit, "the lengths sum up to ", sum, ", not to the ", size, " examples");
  const Tensor order = randperm(size, generator);
  const std::int64_t* next = order.data_ptr<std::int64_t>();
  std::vector<IndexList> parts;
  for (const std::int64_t length : lengths) {
    parts.emplace_back(next, next + length);
    next += length;
  }
  return parts;
}

}  // namespace tend::data
