// Datasets: examples by number or one after the other, as torch.utils.data has them.
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

/// Any type with `size()` and `get(i)`, both const, is a map-style dataset of what get returns: a
/// tensor, a number, a pair, a struct of yours. A DataLoader's workers call get from several
/// threads at once.
template <class D>
concept PlainMapDataset = requires(const D& dataset, std::int64_t index) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  dataset.get(index);
};

/// A map-style dataset that draws random numbers: `get(i, generator)`. A DataLoader hands it a
/// generator of its own for each batch, so the numbers do not depend on the workers.
template <class D>
concept RandomMapDataset = requires(const D& dataset, std::int64_t index, Generator& generator) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  dataset.get(index, generator);
};

template <class D>
concept MapDataset = PlainMapDataset<D> || RandomMapDataset<D>;

/// Any type whose `next()` gives an optional example, none at the end. Where it has `reset()`, a
/// DataLoader calls that before each pass over it.
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

/// IndexError unless index lies in [0, size).
void check_index(const char* operation, std::int64_t index, std::int64_t size);
/// ShapeError unless all have a first dimension, of one size, which is returned.
std::int64_t rows_of(const Tensor* tensors, std::size_t count);
/// The indices of each part of random_split.
std::vector<IndexList> split_indices(std::int64_t size, const std::vector<Scalar>& scalars,
                                     Generator& generator);
}  // namespace detail

/// What a dataset gives.
template <class D>
using Example = typename detail::ExampleOf<D>::type;

/// Rows of tensors with equal first dimensions: example i is an array of the i-th row of each,
/// views without copies. `TensorDataset(inputs, targets)`. ShapeError for tensors without
/// dimensions or of different sizes. PyTorch: torch.utils.data.TensorDataset.
template <std::size_t count>
class TensorDataset {
 public:
  template <class... Tensors>
  requires(sizeof...(Tensors) == count &&
           (std::convertible_to<Tensors, Tensor> && ...)) explicit TensorDataset(Tensors... tensors)
      : tensors_{std::move(tensors)...}, size_(detail::rows_of(tensors_.data(), count)) {}

  std::int64_t size() const noexcept { return size_; }
  /// IndexError for an index outside of [0, size()).
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

/// The examples of a dataset at some indices. A dataset is kept (copied or moved) or shared.
/// IndexError for an index outside of the dataset. PyTorch: torch.utils.data.Subset.
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
  /// IndexError for an index outside of [0, size()).
  auto get(std::int64_t index) const requires PlainMapDataset<D> {
    return dataset_->get(place(index));
  }
  auto get(std::int64_t index, Generator& generator) const requires RandomMapDataset<D> {
    return dataset_->get(place(index), generator);
  }
  const IndexList& indices() const noexcept { return indices_; }
  const D& dataset() const noexcept { return *dataset_; }

 private:
  std::int64_t place(std::int64_t index) const {
    detail::check_index("Subset", index, size());
    return indices_[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<const D> dataset_;
  IndexList indices_;
};

/// Several datasets of one type, one after the other. PyTorch: torch.utils.data.ConcatDataset.
template <MapDataset D>
class ConcatDataset {
 public:
  /// Error for no datasets at all.
  explicit ConcatDataset(std::vector<D> datasets) : datasets_(std::move(datasets)) {
    if (datasets_.empty()) fail("ConcatDataset", "needs a dataset");
    for (const D& dataset : datasets_) ends_.push_back(size() + dataset.size());
  }

  std::int64_t size() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  /// IndexError for an index outside of [0, size()).
  auto get(std::int64_t index) const requires PlainMapDataset<D> {
    const std::size_t part = place(index);
    return datasets_[part].get(index - begin_of(part));
  }
  auto get(std::int64_t index, Generator& generator) const requires RandomMapDataset<D> {
    const std::size_t part = place(index);
    return datasets_[part].get(index - begin_of(part), generator);
  }

 private:
  // Which dataset has the index: the first that ends after it.
  std::size_t place(std::int64_t index) const {
    detail::check_index("ConcatDataset", index, size());
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), index);
    return static_cast<std::size_t>(found - ends_.begin());
  }
  std::int64_t begin_of(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }

  std::vector<D> datasets_;
  std::vector<std::int64_t> ends_;
};

///@{
/// Parts of a dataset that share no example, of these lengths, or of these fractions where they sum
/// up to 1: {700, 300} or {0.7, 0.3}. What fractions leave over goes to the first parts, one each.
/// The order is one randperm of the generator. Error for lengths that are no whole numbers from 0
/// on, that do not sum up to the dataset's size, and for fractions outside of [0, 1]. PyTorch:
/// torch.utils.data.random_split.
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
