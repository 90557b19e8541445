// Anomaly mode: finding the operation that made the first NaN.
#pragma once

#include <span>

#include <tend/autograd/graph/node_hook.h>

namespace tend {

class TensorRef;

namespace autograd {

/// Turns on anomaly mode on this thread during its lifetime, to find the operation that made the
/// first NaN.
///
/// - A backward that begins at a NaN throws before anything has changed, if the operation that made
///   the NaN was recorded in anomaly mode.
/// - A backward that makes a NaN itself throws, even if its graph was not recorded in anomaly mode.
///
/// The AutogradError names the operation and the element. For operations that were recorded in
/// anomaly mode, it also names the path of the module that ran the operation. All results are read
/// once more, which takes time. Destroy the object on the thread that made it.
///
/// https://pytorch.org/docs/2.6/autograd.html#anomaly-detection
class DetectAnomaly {
 public:
  [[nodiscard]] DetectAnomaly();
  ~DetectAnomaly() { --count_; }
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

  static bool is_on() noexcept { return count_ > 0; }

 private:
  inline static constinit thread_local int count_ = 0;  // the number of objects on this thread
  NodeHook hook_;
};

/// Stores in `node` what error messages need: the module that ran the operation, and the first NaN
/// of its result.
void note_anomaly(Node& node, const Tensor& result, std::span<const TensorRef> inputs);

/// Checks that the results at which a backward begins, and the cotangents, have no NaN.
///
/// Throws: AutogradError - a cotangent has a NaN, or a result has one and was recorded in anomaly
///                         mode
void check_anomaly(std::span<const Tensor> results, std::span<const Tensor> cotangents);

}  // namespace autograd
}  // namespace tend
