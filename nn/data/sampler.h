// Samplers: in which order a DataLoader takes the examples of a dataset.
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

/// One pass of a sampler: each call gives the next element, and none at the end.
template <class T>
using Stream = std::function<std::optional<T>()>;

/// Any sampler of elements T: a type with a const `size()`, the number of elements of a pass, and a
/// const `iter()`, which returns a Stream<T>. Nothing is drawn before a stream's first call. A
/// sampler with a generator of its own also has `generator()` (null is the default generator), so
/// that a DataLoader's state contains it.
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

/// A sampler of indices, and one of whole batches of them.
using Sampler = SamplerOf<std::int64_t>;
using IndexListSampler = SamplerOf<IndexList>;

/// 0, 1, ..., size - 1. PyTorch: torch.utils.data.SequentialSampler.
class SequentialSampler {
 public:
  /// Error for a negative size.
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
  /// It must live as long as the sampler and its streams. Without one, each pass draws a seed from
  /// the default generator, for a generator of its own.
  Generator* generator = nullptr;
};

/// The indices below `size` in random order: permutations one after the other, until num_samples
/// are given (as many as `size` where that is not said), or independent draws with `replacement`.
/// The draws are PyTorch's: a stream without replacement draws one permutation more at its end.
/// PyTorch: torch.utils.data.RandomSampler.
class RandomSampler {
 public:
  /// Error unless there is an index and at least one sample.
  explicit RandomSampler(std::int64_t size, const RandomSamplerOptions& options = {});
  std::int64_t size() const noexcept { return num_samples_; }
  Stream<std::int64_t> iter() const;
  Generator* generator() const noexcept { return generator_; }

 private:
  std::int64_t range_, num_samples_;
  bool replacement_;
  Generator* generator_;
};

/// These indices in random order: one randperm from the generator, null for the default one, in
/// each pass. PyTorch: torch.utils.data.SubsetRandomSampler.
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

/// Indices of `weights`, of shape (n,), each drawn with the probability of its weight; the
/// weights need not sum up to 1. One multinomial of float64 weights from the generator, null for
/// the default one, in each pass, which throws its errors for weights that cannot be drawn from.
/// PyTorch: torch.utils.data.WeightedRandomSampler.
class WeightedRandomSampler {
 public:
  /// ShapeError unless weights have one dimension, Error for less than one sample.
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

/// The indices of a sampler in batches; the last one may be smaller, or is left out with drop_last.
/// PyTorch: torch.utils.data.BatchSampler.
class BatchSampler {
 public:
  /// Error for a batch size below 1.
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
/// What torch.empty((), dtype=torch.int64).random_() draws: 63 bits. Null is the default generator.
std::int64_t draw_seed(Generator* generator);
}  // namespace detail

}  // namespace tend::data
