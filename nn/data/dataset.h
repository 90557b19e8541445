// Datasets, as in torch.utils.data: a map-style dataset returns the example of an index, and an
// iterable dataset returns its examples one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/scalar.h>
#include <tend/core/base/error.h>
#include <tend/core/random/random.h>

namespace tend::data {

using IndexList = std::vector<std::int64_t>;

/// A map-style dataset: any type with const functions `size()` and `get(i)`.
///
/// get returns an example: a tensor, a number, a pair or your own struct. The workers of a
/// DataLoader call get from several threads at once.
template <class D>
concept PlainMapDataset = requires(const D& dataset, std::int64_t index) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  dataset.get(index);
};

/// A map-style dataset that uses random numbers: `get(i, generator)`. A DataLoader makes a
/// generator for each batch, so the numbers do not depend on the workers.
template <class D>
concept RandomMapDataset = requires(const D& dataset, std::int64_t index, Generator& generator) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  dataset.get(index, generator);
};

template <class D>
concept MapDataset = PlainMapDataset<D> || RandomMapDataset<D>;

/// An iterable dataset: any type whose `next()` returns an optional example, which is empty at the
/// end. If the type has `reset()`, a DataLoader calls it before each loop.
template <class D>
concept IterableDataset = !MapDataset<D> && requires(D & dataset) {
  { dataset.next().has_value() } -> std::convertible_to<bool>;
  *dataset.next();
};

namespace detail {
template <class D>
auto get(const D& dataset, std::int64_t index, Generator& generator) {
  if constexpr (RandomMapDataset<D>) {
    return dataset.get(index, generator);
  } else {
    return dataset.get(index);
  }
}

template <class D>
struct ExampleOf {
  using type = std::decay_t<decltype(*std::declval<D&>().next())>;
};
template <MapDataset D>
struct ExampleOf<D> {
  using type = decltype(get(std::declval<const D&>(), std::int64_t{}, std::declval<Generator&>()));
};

/// Throws an IndexError unless the index is in [0, size).
void check_index(const char* operation, std::int64_t index, std::int64_t size);
/// The size of the first dimension. Throws a ShapeError if this size is not equal for all tensors.
std::int64_t rows_of(const Tensor* tensors, std::size_t count);
/// The indices of each part of random_split.
std::vector<IndexList> split_indices(std::int64_t size, const std::vector<Scalar>& scalars,
                                     Generator& generator);
}  // namespace detail

/// The type of a dataset's examples.
template <class D>
using Example = typename detail::ExampleOf<D>::type;

/// A dataset of the rows of tensors: TensorDataset(inputs, targets). Example i is an array with row
/// i of each tensor, as views (torch.utils.data.TensorDataset).
///
/// Throws: ShapeError - a tensor has no dimensions, or the first dimensions differ
template <std::size_t count>
class TensorDataset {
 public:
  template <class... Tensors>
  requires(sizeof...(Tensors) == count &&
           (std::convertible_to<Tensors, Tensor> && ...)) explicit TensorDataset(Tensors... tensors)
      : tensors_{std::move(tensors)...}, size_(detail::rows_of(tensors_.data(), count)) {}

  std::int64_t size() const noexcept { return size_; }
  /// Returns an example.
  ///
  /// Throws: IndexError - the index is out of range
  std::array<Tensor, count> get(std::int64_t index) const {
    detail::check_index("TensorDataset", index, size_);
    std::array<Tensor, count> row;
    for (std::size_t i = 0; i < count; ++i) row[i] = tensors_[i].select(0, index);
    return row;
  }
  const std::array<Tensor, count>& tensors() const noexcept { return tensors_; }

 private:
  std::array<Tensor, count> tensors_;
  std::int64_t size_;
};
template <class... Tensors>
TensorDataset(Tensors...) -> TensorDataset<sizeof...(Tensors)>;

/// The examples of a dataset at some indices (torch.utils.data.Subset). The dataset is copied or
/// moved into the Subset, or shared with it.
///
/// Throws:
///   IndexError - an index is outside of the dataset
///   Error      - the dataset is a null pointer
template <MapDataset D>
class Subset {
 public:
  Subset(std::shared_ptr<const D> dataset, IndexList indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {
    if (!dataset_) fail("Subset", "the dataset is a null pointer");
    for (const std::int64_t index : indices_)
      detail::check_index("Subset", index, dataset_->size());
  }
  Subset(D dataset, IndexList indices)
      : Subset(std::make_shared<const D>(std::move(dataset)), std::move(indices)) {}

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(indices_.size()); }
  /// Returns an example.
  ///
  /// Throws: IndexError - the index is out of range
  auto get(std::int64_t index) const requires PlainMapDataset<D> {
    return dataset_->get(original_index(index));
  }
  auto get(std::int64_t index, Generator& generator) const requires RandomMapDataset<D> {
    return dataset_->get(original_index(index), generator);
  }
  const IndexList& indices() const noexcept { return indices_; }
  const D& dataset() const noexcept { return *dataset_; }

 private:
  std::int64_t original_index(std::int64_t index) const {
    detail::check_index("Subset", index, size());
    return indices_[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<const D> dataset_;
  IndexList indices_;
};

/// Several datasets of one type, joined to one (torch.utils.data.ConcatDataset).
template <MapDataset D>
class ConcatDataset {
 public:
  /// Joins the datasets in this order.
  ///
  /// Throws: Error - there are no datasets
  explicit ConcatDataset(std::vector<D> datasets) : datasets_(std::move(datasets)) {
    if (datasets_.empty()) fail("ConcatDataset", "needs at least one dataset");
    for (const D& dataset : datasets_) ends_.push_back(size() + dataset.size());
  }

  std::int64_t size() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  /// Returns an example.
  ///
  /// Throws: IndexError - the index is out of range
  auto get(std::int64_t index) const requires PlainMapDataset<D> {
    const std::size_t part = dataset_of(index);
    return datasets_[part].get(index - begin_of(part));
  }
  auto get(std::int64_t index, Generator& generator) const requires RandomMapDataset<D> {
    const std::size_t part = dataset_of(index);
    return datasets_[part].get(index - begin_of(part), generator);
  }

 private:
  // The position in datasets_ of the dataset that contains the index.
  std::size_t dataset_of(std::int64_t index) const {
    detail::check_index("ConcatDataset", index, size());
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), index);
    return static_cast<std::size_t>(found - ends_.begin());
  }
  std::int64_t begin_of(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }

  std::vector<D> datasets_;
  std::vector<std::int64_t> ends_;
};

///@{
/// Divides the examples of a dataset randomly into parts (torch.utils.data.random_split).
///
/// `lengths` are numbers of examples, or fractions that sum up to 1: {700, 300} or {0.7, 0.3}.
/// Lengths from fractions are rounded down, and the parts get the remaining examples in turn. One
/// call of randperm() with the generator gives the order.
///
/// Throws:
///   Error - a length is negative or not a whole number, or a fraction is not in [0, 1]
///   Error - the lengths do not sum up to the size of the dataset
///   Error - the dataset is a null pointer
template <MapDataset D>
std::vector<Subset<D>> random_split(std::shared_ptr<const D> dataset,
                                    const std::vector<Scalar>& lengths,
                                    Generator& generator = default_generator()) {
  if (!dataset) fail("random_split", "the dataset is a null pointer");
  std::vector<Subset<D>> parts;
  for (IndexList& indices : detail::split_indices(dataset->size(), lengths, generator)) {
    parts.emplace_back(dataset, std::move(indices));
  }
  return parts;
}
template <MapDataset D>
std::vector<Subset<D>> random_split(D dataset, const std::vector<Scalar>& lengths,
                                    Generator& generator = default_generator()) {
  return random_split(std::make_shared<const D>(std::move(dataset)), lengths, generator);
}
///@}

}  // namespace tend::data
