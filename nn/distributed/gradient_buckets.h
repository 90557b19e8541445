// Gradients on their way between processes, some together. Internal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/distributed/communicator.h>
#include <tend/nn/distributed/data_parallel.h>
#include <tend/nn/distributed/pairwise_sum.h>

namespace tend::distributed {

/// Sums the gradients of parameters over all processes. Those of the last parameters are together
/// in the first bucket, since a backward has them first. A bucket is sent when it is full.
class GradientBuckets {
 public:
  GradientBuckets(const Communicator& communicator, const std::vector<Tensor>& parameters,
                  std::int64_t bucket_bytes);

  /// The gradient of a parameter on this process; an undefined one counts as absent. Once for each
  /// parameter in a round.
  void put(std::size_t parameter, const Tensor& gradient);
  /// Lets messages go on.
  void advance();
  /// Ends the round: waits for all sums.
  void wait();
  /// After wait(): the sum over the processes that have a gradient, undefined where none has. It is
  /// overwritten by the next round.
  Tensor sum(std::size_t parameter) const;

  const ReductionCost& cost() const noexcept { return cost_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Bucket {
    Tensor values;  // one count for each gradient, then the gradients
    std::int64_t gradients = 0;
    std::int64_t missing = 0;  // gradients that were not put in this round
    std::unique_ptr<PairwiseSum> sum;
  };
  struct Place {
    std::size_t bucket;
    std::int64_t number;  // in the bucket
    std::int64_t offset, size;
    Shape shape;
  };

  Tensor values_of(const Place& place) const;
  void send(std::size_t bucket);

  const Communicator* communicator_;
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;  // of the parameters
  Clock::time_point start_;    // of the round's first message
  Clock::time_point full_;     // when the round's last gradient was there
  ReductionCost cost_;
};

}  // namespace tend::distributed
