/// \file
/// Named positions in a forward whose values tools can read and replace.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn {

/// Receives the tensors at the HookPoints that this thread passes while the listener lives.
///
/// If there are several listeners, the oldest one receives the tensor first. Every other listener
/// receives the result of the listener that was made before it.
class HookListener {
 public:
  HookListener(const HookListener&) = delete;
  HookListener& operator=(const HookListener&) = delete;

  /// The newest listener of this thread, or nullptr.
  static HookListener* current() noexcept { return current_; }
  /// The listener that was made before this one, or nullptr.
  HookListener* outer() const noexcept { return outer_; }

  /// True if the listener wants the tensor at a hook point, such as "blocks.0.attention.hook_z".
  virtual bool hears(const std::string& name) = 0;
  /// The heads whose attention scores and weights the listener wants at this hook point. An empty
  /// list means all heads.
  virtual std::vector<std::int64_t> heads(const std::string& name) const = 0;
  /// Receives x and returns the tensor with which the forward continues. If `heads` is empty, x has
  /// all heads; otherwise dimension -3 of x has only these heads.
  virtual Tensor pass(const std::string& name, const Tensor& x,
                      const std::vector<std::int64_t>& heads) = 0;

 protected:
  HookListener() noexcept : outer_(std::exchange(current_, this)) {}
  ~HookListener() { current_ = outer_; }

 private:
  inline static constinit thread_local HookListener* current_ = nullptr;

  HookListener* outer_;
};

/// A named position in a forward:
///
///     struct Net : Module<Net> {
///       Tensor forward(const Tensor& x) const { return out(hook_hidden(relu(in(x)))); }
///       HookPoint hook_hidden{"hook_hidden"};
///       ...
///
/// The full name of a hook point, such as "blocks.0.hook_hidden", is the path of the running module
/// within the outermost module, followed by the name in the constructor. A hook point costs nothing
/// while there is no listener.
class HookPoint {
 public:
  /// The name must live as long as the program, as a string literal does.
  constexpr explicit HookPoint(const char* name) noexcept : name_(name) {}

  /// Passes x to the listeners and returns their result, or x if nobody listens.
  ///
  /// `heads` are the heads that x has; an empty list means all heads.
  ///
  /// Throws:
  ///   ShapeError - a listener's result has another shape than x
  ///   DTypeError - a listener's result has another dtype than x
  Tensor operator()(const Tensor& x, const std::vector<std::int64_t>& heads = {}) const {
    return HookListener::current() == nullptr ? x : pass(x, heads);
  }
  /// True if a listener wants the tensor here. Check it before you compute a tensor that only
  /// listeners need.
  bool is_heard() const { return HookListener::current() != nullptr && is_wanted(); }
  /// The heads that listeners want, in ascending order. An empty list means that a listener wants
  /// all heads, or that nobody wants any.
  std::vector<std::int64_t> heads() const;

 private:
  std::string full_name() const;
  bool is_wanted() const;
  Tensor pass(const Tensor& x, const std::vector<std::int64_t>& heads) const;

  const char* name_;
};

}  // namespace tend::nn
