// Finding the operation that made the first NaN.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <tend/autograd/graph/hooks.h>

namespace tend {

class TensorRef;

/// Something that runs on this thread and has a name for messages, such as a module that was
/// called. Scopes nest as calls do, and can be made on the stack only.
class CallScope {
 public:
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  static void* operator new(std::size_t) = delete;

  /// The path of the innermost scope, such as "GPT.blocks.0.attention.W_query"; empty outside of
  /// all scopes.
  static std::string current_path();

  /// The names of the scopes around this one, then its own.
  virtual std::string path() const = 0;

 protected:
  CallScope() noexcept;
  ~CallScope();

  const CallScope* outer() const noexcept { return outer_; }
  static const CallScope* innermost() noexcept;
  static const CallScope* outer_of(const CallScope& scope) noexcept { return scope.outer_; }

 private:
  const CallScope* outer_;
};

namespace autograd {

/// Anomaly mode, on this thread while it lives. A backward from a NaN is refused before anything
/// has changed, where the operation that made the NaN was recorded in anomaly mode. A backward that
/// makes a NaN itself is stopped, also where its graph was recorded in another mode. The
/// AutogradError names the operation where NaN first appeared, the element, and (of what was
/// recorded in anomaly mode) the path of the module that ran the operation. All results are read
/// once more, which takes time. Destroyed on another thread, it ends the mode of the thread that
/// made it. https://pytorch.org/docs/2.6/autograd.html#anomaly-detection
class DetectAnomaly {
 public:
  [[nodiscard]] DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

  static bool is_on() noexcept { return may_be_on_ && is_still_on(); }

 private:
  static bool is_still_on() noexcept;

  // False where the mode never began on this thread, or was found to have ended.
  inline static constinit thread_local bool may_be_on_ = false;
  NodeHook hook_;
};

/// Stores in `node` what errors will say about its operation: the module that ran it, and its first
/// NaN.
void note_anomaly(Node& node, const Tensor& result, std::span<const TensorRef> inputs);

/// AutogradError when a result from which a backward is to begin, or a cotangent, has NaN.
void check_anomaly(std::span<const Tensor> results, std::span<const Tensor> cotangents);

}  // namespace autograd
}  // namespace tend
