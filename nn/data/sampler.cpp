#include <tend/nn/data/sampler.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include <tend/autograd/ops/random.h>
#include <tend/core/base/error.h>

namespace tend::data {
namespace {

Generator& given_or_default(Generator* generator) {
  return generator != nullptr ? *generator : default_generator();
}

// A pass of a RandomSampler. It uses the generator only when the next index is needed, since other
// code may use the same generator in between.
class RandomPass {
 public:
  RandomPass(std::int64_t range, std::int64_t num_samples, bool replacement, Generator* given)
      : range_(range), samples_left_(num_samples), replacement_(replacement), given_(given) {}

  std::optional<std::int64_t> operator()() {
    if (next_ == end_ && !ended_) refill();
    if (next_ == end_) return std::nullopt;
    return block_.data_ptr<std::int64_t>()[next_++];
  }

 private:
  static constexpr std::int64_t kBlock = 32;  // with replacement, PyTorch makes 32 numbers at once

  void refill() {
    if (given_ == nullptr && !own_)
      own_.emplace(static_cast<std::uint64_t>(detail::draw_seed(nullptr)));
    Generator& generator = given_ != nullptr ? *given_ : *own_;
    const std::int64_t most = replacement_ ? kBlock : range_;
    const std::int64_t count = std::min(samples_left_, most);
    block_ = replacement_ ? randint(0, range_, {count}, DType::int64, generator)
                          : randperm(range_, generator);
    next_ = 0;
    end_ = count;
    ended_ = count < most;
    samples_left_ -= count;
  }

  std::int64_t range_, samples_left_;
  bool replacement_;
  Generator* given_;
  std::optional<Generator> own_;
  Tensor block_;
  std::int64_t next_ = 0, end_ = 0;
  bool ended_ = false;
};

// A stream of the elements of the tensor that draw() returns. The stream's first call calls draw().
Stream<std::int64_t> drawn_stream(std::function<Tensor()> draw) {
  return [draw = std::move(draw), drawn = Tensor(),
          next = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (!drawn.defined()) drawn = draw();
    if (next == drawn.numel()) return std::nullopt;
    return drawn.data_ptr<std::int64_t>()[next++];
  };
}

}  // namespace

std::int64_t detail::draw_seed(Generator* generator) {
  Generator& from = given_or_default(generator);
  const GeneratorLock lock(from);
  constexpr std::uint64_t kMask = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(from.u64() & kMask);
}

SequentialSampler::SequentialSampler(std::int64_t size) : size_(size) {
  if (size < 0) fail("SequentialSampler", "the size must not be negative, got ", size);
}

Stream<std::int64_t> SequentialSampler::iter() const {
  return [next = std::int64_t{0}, size = size_]() mutable -> std::optional<std::int64_t> {
    if (next == size) return std::nullopt;
    return next++;
  };
}

RandomSampler::RandomSampler(std::int64_t size, const RandomSamplerOptions& options)
    : range_(size),
      num_samples_(options.num_samples.value_or(size)),
      replacement_(options.replacement),
      generator_(options.generator) {
  if (num_samples_ <= 0)
    fail("RandomSampler", "the number of samples must be at least 1, got ", num_samples_);
  if (range_ <= 0) fail("RandomSampler", "the size must be at least 1, got ", range_);
}

Stream<std::int64_t> RandomSampler::iter() const {
  return RandomPass(range_, num_samples_, replacement_, generator_);
}

Stream<std::int64_t> SubsetRandomSampler::iter() const {
  return drawn_stream([indices = indices_, generator = generator_] {
    Tensor order = randperm(std::ssize(*indices), given_or_default(generator));
    for (std::int64_t& each : std::span(order.data_ptr<std::int64_t>(), indices->size()))
      each = (*indices)[static_cast<std::size_t>(each)];
    return order;
  });
}

WeightedRandomSampler::WeightedRandomSampler(const Tensor& weights, std::int64_t num_samples,
                                             Flag replacement, Generator* generator)
    : num_samples_(num_samples), replacement_(replacement), generator_(generator) {
  constexpr const char* kName = "WeightedRandomSampler";
  if (weights.dim() != 1)
    fail<ShapeError>(kName, "the weights have shape ", weights.shape(), ", not one dimension");
  if (num_samples <= 0) fail(kName, "the number of samples must be at least 1, got ", num_samples);
  weights_ = weights.detach().to(float64).clone();  // a copy, since the user may write to weights
}

Stream<std::int64_t> WeightedRandomSampler::iter() const {
  return drawn_stream([weights = weights_, count = num_samples_, replacement = replacement_,
                       generator = generator_] {
    return multinomial(weights, count, replacement, given_or_default(generator));
  });
}

BatchSampler::BatchSampler(Sampler sampler, std::int64_t batch_size, Flag drop_last)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
  if (batch_size <= 0) fail("BatchSampler", "the batch size must be at least 1, got ", batch_size);
}

std::int64_t BatchSampler::size() const {
  const std::int64_t size = sampler_.size(), whole = size / batch_size_;
  return whole + (!drop_last_ && size % batch_size_ != 0 ? 1 : 0);
}

Stream<IndexList> BatchSampler::iter() const {
  return [next = sampler_.iter(), size = batch_size_,
          drop_last = drop_last_]() -> std::optional<IndexList> {
    IndexList batch;
    while (static_cast<std::int64_t>(batch.size()) < size) {
      const std::optional<std::int64_t> index = next();
      if (!index) break;
      batch.push_back(*index);
    }
    const bool is_whole = static_cast<std::int64_t>(batch.size()) == size;
    if (batch.empty() || (drop_last && !is_whole)) return std::nullopt;
    return batch;
  };
}

}  // namespace tend::data
