// Finding the operation that made the first NaN.
#pragma once

#include <span>

#include <tend/autograd/graph/node_hook.h>

namespace tend {

class TensorRef;

namespace autograd {

/// Anomaly mode, on this thread while it lives. It finds the operation that made the first NaN:
/// - A backward that begins at a NaN throws before anything has changed, if the operation that made
///   the NaN was recorded in anomaly mode.
/// - A backward that makes a NaN itself throws, in whatever mode its graph was recorded.
///
/// The AutogradError names the operation, the element, and (of what was recorded in anomaly mode)
/// the path of the module that ran the operation. All results are read once more, which takes time.
/// Destroy it on the thread that made it.
/// https://pytorch.org/docs/2.6/autograd.html#anomaly-detection
class DetectAnomaly {
 public:
  [[nodiscard]] DetectAnomaly();
  ~DetectAnomaly() { --count_; }
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

  static bool is_on() noexcept { return count_ > 0; }

 private:
  inline static constinit thread_local int count_ = 0;  // objects that live on this thread
  NodeHook hook_;
};

/// Stores in `node` what errors will say about its operation: the module that ran it, and its first
/// NaN.
void note_anomaly(Node& node, const Tensor& result, std::span<const TensorRef> inputs);

/// AutogradError when a result from which a backward is to begin, or a cotangent, has NaN.
void check_anomaly(std::span<const Tensor> results, std::span<const Tensor> cotangents);

}  // namespace autograd
}  // namespace tend
