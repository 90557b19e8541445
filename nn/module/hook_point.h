/// \file
/// Places in a forward whose values tools can read and replace.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn {

/// Hears of the HookPoints that this thread passes while it lives. Of several the first made hears
/// of a tensor first, and the next gets what that made of it.
class HookListener {
 public:
  HookListener(const HookListener&) = delete;
  HookListener& operator=(const HookListener&) = delete;

  /// The last listener of this thread, or nullptr.
  static HookListener* current() noexcept { return current_; }
  /// The one that was made before this one, or nullptr.
  HookListener* outer() const noexcept { return outer_; }

  /// Whether it wants the tensor at a place, such as "blocks.0.attention.hook_z".
  virtual bool hears(const std::string& place) = 0;
  /// The heads that it wants of attention's scores and weights there; none means all.
  virtual std::vector<std::int64_t> heads(const std::string& place) const = 0;
  /// The tensor to go on with. x has all heads if `heads` is empty, otherwise these, in dimension
  /// -3.
  virtual Tensor pass(const std::string& place, const Tensor& x,
                      const std::vector<std::int64_t>& heads) = 0;

 protected:
  HookListener() noexcept : outer_(std::exchange(current_, this)) {}
  ~HookListener() { current_ = outer_; }

 private:
  inline static constinit thread_local HookListener* current_ = nullptr;

  HookListener* outer_;
};

/// A place in a forward:
///
///     struct Net : Module<Net> {
///       Tensor forward(const Tensor& x) const { return out(hook_hidden(relu(in(x)))); }
///       HookPoint hook_hidden{"hook_hidden"};
///       ...
///
/// Its full name is the path of the module that is being called, without the outermost one's class,
/// and its own name. It costs nothing while nobody listens.
class HookPoint {
 public:
  /// A name that lives as long as the program, such as a string literal.
  constexpr explicit HookPoint(const char* name) noexcept : name_(name) {}

  /// x, or what listeners make of it. `heads` are those that x consists of, where not of all.
  /// ShapeError and DTypeError for a result that is not like x.
  Tensor operator()(const Tensor& x, const std::vector<std::int64_t>& heads = {}) const {
    return HookListener::current() == nullptr ? x : pass(x, heads);
  }
  /// Whether somebody wants the tensor here, where it is computed for them alone.
  bool is_heard() const { return HookListener::current() != nullptr && is_wanted(); }
  /// The heads that somebody wants, in ascending order; none means all, or nobody.
  std::vector<std::int64_t> heads() const;

 private:
  std::string place() const;
  bool is_wanted() const;
  Tensor pass(const Tensor& x, const std::vector<std::int64_t>& heads) const;

  const char* name_;
};

}  // namespace tend::nn
