#include <tend/nn/distributed/gradient_buckets.h>

#include <algorithm>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::distributed {
namespace {

// Adding -0.0 changes no number, not even +0.0 or -0.0.
constexpr double kAbsent = -0.0;

}  // namespace

GradientBuckets::GradientBuckets(const Communicator& communicator,
                                 const std::vector<Tensor>& parameters, std::int64_t bucket_bytes)
    : communicator_(&communicator), places_(parameters.size()) {
  std::vector<std::int64_t> sizes;  // the sizes of the gradients of each bucket
  std::vector<DType> dtypes;
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const Tensor& parameter = parameters[i];
    const bool is_new = sizes.empty() || dtypes.back() != parameter.dtype() ||
                        sizes.back() * item_size(parameter.dtype()) >= bucket_bytes;
    if (is_new) {
      buckets_.emplace_back();
      sizes.push_back(0);
      dtypes.push_back(parameter.dtype());
    }
    places_[i] = {buckets_.size() - 1, buckets_.back().gradients++, sizes.back(), parameter.numel(),
                  parameter.shape()};
    sizes.back() += parameter.numel();
  }
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    buckets_[i].missing = buckets_[i].gradients;
    buckets_[i].values = empty({buckets_[i].gradients + sizes[i]}, dtypes[i]);
  }
  for (Place& place : places_) place.offset += buckets_[place.bucket].gradients;
}

Tensor GradientBuckets::values_of(const Place& place) const {
  return buckets_[place.bucket].values.narrow(0, place.offset, place.size).view(place.shape);
}

void GradientBuckets::put(std::size_t parameter, const Tensor& gradient) {
  const NoGradGuard no_grad;
  const Place& place = places_[parameter];
  Bucket& bucket = buckets_[place.bucket];
  Tensor values = values_of(place);
  if (gradient.defined()) {
    values.copy_(gradient);
  } else {
    values.fill_(kAbsent);
  }
  bucket.values[{place.number}].fill_(gradient.defined() ? 1 : kAbsent);
  if (--bucket.missing == 0) send(place.bucket);
  full_ = Clock::now();
}

void GradientBuckets::send(std::size_t number) {
  Bucket& bucket = buckets_[number];
  const bool is_first = std::none_of(buckets_.begin(), buckets_.end(),
                                     [](const Bucket& each) { return each.sum != nullptr; });
  if (is_first) start_ = Clock::now();
  bucket.sum = std::make_unique<PairwiseSum>(*communicator_, static_cast<int>(number),
                                             bucket.values.array());
}

void GradientBuckets::advance() {
  for (Bucket& bucket : buckets_) {
    if (bucket.sum) bucket.sum->advance();
  }
}

void GradientBuckets::wait() {
  if (buckets_.empty()) return;
  for (Bucket& bucket : buckets_) {
    bucket.sum->wait();
    cost_.bytes_sent += bucket.sum->bytes_sent();
    bucket.sum.reset();
    bucket.missing = bucket.gradients;
  }
  const auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  cost_.seconds += seconds(Clock::now() - start_);
  cost_.waited_seconds += seconds(Clock::now() - full_);
}

Tensor GradientBuckets::sum(std::size_t parameter) const {
  const NoGradGuard no_grad;
  const Place& place = places_[parameter];
  const bool is_there = buckets_[place.bucket].values[{place.number}].item() > 0;
  return is_there ? values_of(place) : Tensor();
}

}  // namespace tend::distributed
