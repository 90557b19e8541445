// Sends gradients between processes, several in one message. Internal.
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

/// Sums the gradients of parameters over all processes, in rounds. In each round, put() is called
/// for each parameter, then wait().
///
/// The first bucket has the gradients of the last parameters, since a backward computes these
/// gradients first. A bucket is sent when it is full.
class GradientBuckets {
 public:
  GradientBuckets(const Communicator& communicator, const std::vector<Tensor>& parameters,
                  std::int64_t bucket_bytes);

  /// Puts this process's gradient of a parameter into the parameter's bucket. `gradient` is
  /// undefined if the process has no gradient.
  void put(std::size_t parameter, const Tensor& gradient);
  /// Lets the messages make progress.
  void advance();
  /// Ends the round: waits for all sums.
  void wait();
  /// Returns the sum over the processes that have a gradient; undefined if no process has one. Must
  /// be called after wait(). The next round overwrites the sum.
  Tensor sum(std::size_t parameter) const;

  const ReductionCost& cost() const noexcept { return cost_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Bucket {
    Tensor values;  // for each gradient the number of processes that have it; then the gradients
    std::int64_t gradients = 0;
    std::int64_t missing = 0;  // the number of gradients that this round still needs
    std::unique_ptr<PairwiseSum> sum;
  };
  struct Place {
    std::size_t bucket;
    std::int64_t number;  // the index in the bucket
    std::int64_t offset, size;
    Shape shape;
  };

  Tensor values_of(const Place& place) const;
  void send(std::size_t bucket);

  const Communicator* communicator_;
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;  // one for each parameter
  Clock::time_point start_;    // when the round's first message was sent
  Clock::time_point full_;     // when the round's last gradient was put
  ReductionCost cost_;
};

}  // namespace tend::distributed
