// Samplers: they choose the order in which a DataLoader reads the examples of a dataset.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/random/random.h>
#include <tend/nn/data/dataset.h>

namespace tend::data {

/// One pass of a sampler. Each call returns the next element, or nullopt at the end.
template <class T>
using Stream = std::function<std::optional<T>()>;

/// A sampler of any type that chooses elements T.
///
/// A sampler is a type with two const functions. `size()` returns the number of elements of a pass,
/// `iter()` a Stream<T>. The stream must not use random numbers until it is called. A sampler that
/// has its own generator also has `generator()`, so that a DataLoader's state contains the
/// generator. A null pointer means the default generator.
template <class T>
class SamplerOf {
 public:
  template <class S>
  requires(!std::same_as<S, SamplerOf> && requires(const S& sampler) {
    { sampler.size() } -> std::convertible_to<std::int64_t>;
    { sampler.iter() } -> std::convertible_to<Stream<T>>;
  }) SamplerOf(S sampler) {
    if constexpr (requires {
                    { sampler.generator() } -> std::same_as<Generator*>;
                  }) {
      generator_ = sampler.generator();
    }
    const auto shared = std::make_shared<const S>(std::move(sampler));
    size_ = [shared] { return static_cast<std::int64_t>(shared->size()); };
    iter_ = [shared]() -> Stream<T> { return shared->iter(); };
  }

  std::int64_t size() const { return size_(); }
  Stream<T> iter() const { return iter_(); }
  Generator* generator() const noexcept { return generator_; }

 private:
  std::function<std::int64_t()> size_;
  std::function<Stream<T>()> iter_;
  Generator* generator_ = nullptr;
};

/// A sampler of indices, and a sampler of whole batches of indices.
using Sampler = SamplerOf<std::int64_t>;
using IndexListSampler = SamplerOf<IndexList>;

/// The indices 0, 1, ..., size - 1 (torch.utils.data.SequentialSampler).
class SequentialSampler {
 public:
  /// A sampler of the indices below `size`.
  ///
  /// Throws: Error - the size is negative
  explicit SequentialSampler(std::int64_t size);
  std::int64_t size() const noexcept { return size_; }
  Stream<std::int64_t> iter() const;

 private:
  std::int64_t size_;
};

/// The options of RandomSampler.
struct RandomSamplerOptions {
  bool replacement = false;
  std::optional<std::int64_t> num_samples = std::nullopt;
  /// The generator must live as long as the sampler and its streams. If the pointer is null, each
  /// pass makes a new generator, with a seed from the default generator.
  Generator* generator = nullptr;
};

/// The indices below `size` in random order (torch.utils.data.RandomSampler).
///
/// A pass has num_samples indices, by default `size`. With `replacement`, each index is random and
/// independent of the others. Otherwise the pass consists of random permutations, one after the
/// other. As in PyTorch, after the last whole permutation a stream makes another one, even if it
/// needs no further index.
class RandomSampler {
 public:
  /// A sampler of the indices below `size`.
  ///
  /// Throws: Error - the size or the number of samples is below 1
  explicit RandomSampler(std::int64_t size, const RandomSamplerOptions& options = {});
  std::int64_t size() const noexcept { return num_samples_; }
  Stream<std::int64_t> iter() const;
  Generator* generator() const noexcept { return generator_; }

 private:
  std::int64_t range_, num_samples_;
  bool replacement_;
  Generator* generator_;
};

/// Given indices in random order (torch.utils.data.SubsetRandomSampler). Each pass calls randperm()
/// with the generator; null is the default one.
class SubsetRandomSampler {
 public:
  explicit SubsetRandomSampler(IndexList indices, Generator* generator = nullptr)
      : indices_(std::make_shared<const IndexList>(std::move(indices))), generator_(generator) {}
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(indices_->size()); }
  Stream<std::int64_t> iter() const;
  Generator* generator() const noexcept { return generator_; }

 private:
  std::shared_ptr<const IndexList> indices_;
  Generator* generator_;
};

/// Random indices with probabilities in proportion to their weights
/// (torch.utils.data.WeightedRandomSampler).
///
/// `weights` has the shape (n,) and need not sum up to 1. Each pass calls multinomial() with the
/// weights as float64 and the generator; null is the default one. If the weights are not valid, the
/// pass throws the errors of multinomial().
class WeightedRandomSampler {
 public:
  /// A sampler of num_samples indices.
  ///
  /// Throws:
  ///   ShapeError - the weights do not have one dimension
  ///   Error      - num_samples is below 1
  WeightedRandomSampler(const Tensor& weights, std::int64_t num_samples, Flag replacement = true,
                        Generator* generator = nullptr);
  std::int64_t size() const noexcept { return num_samples_; }
  Stream<std::int64_t> iter() const;
  Generator* generator() const noexcept { return generator_; }

 private:
  Tensor weights_;
  std::int64_t num_samples_;
  bool replacement_;
  Generator* generator_;
};

/// The indices of a sampler in batches (torch.utils.data.BatchSampler). The last batch may be
/// smaller than the others; with drop_last, such a batch is left out.
class BatchSampler {
 public:
  /// Batches of the sampler's indices.
  ///
  /// Throws: Error - the batch size is below 1
  BatchSampler(Sampler sampler, std::int64_t batch_size, Flag drop_last);
  std::int64_t size() const;
  Stream<IndexList> iter() const;
  Generator* generator() const noexcept { return sampler_.generator(); }

 private:
  Sampler sampler_;
  std::int64_t batch_size_;
  bool drop_last_;
};

namespace detail {
/// A random number of 63 bits, the same as torch.empty((), dtype=torch.int64).random_(). Null is
/// the default generator.
std::int64_t draw_seed(Generator* generator);
}  // namespace detail

}  // namespace tend::data
