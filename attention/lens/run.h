/// \file
/// Runs of a model in which activations are read or replaced by name.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/module/hook_point.h>
#include <tend/nn/module/module.h>

namespace tend::lens {

/// A named position in a user's own model (nn/module/hook_point.h).
using nn::HookPoint;

/// Replaces an activation: `function` receives it and returns the tensor with which the model
/// continues.
struct Hook {
  /// TransformerLens's name, the name in its version 3, or the path of modules; see
  /// activation_name.
  std::string name;
  std::function<Tensor(Tensor)> function;
  /// Only for hook_attn_scores and hook_pattern: the heads that the function receives, in this
  /// order. An empty list means all heads. The other heads stay on the fused path.
  std::vector<std::int64_t> heads = {};
};

/// Applies hooks to every model that this thread calls while the object exists. Hooks of the same
/// name are called in the order of the list.
class Hooks final : public nn::HookListener {
 public:
  explicit Hooks(std::vector<Hook> hooks);
  ~Hooks() = default;

  bool hears(const std::string& place) override;
  std::vector<std::int64_t> heads(const std::string& place) const override;
  Tensor pass(const std::string& place, const Tensor& x,
              const std::vector<std::int64_t>& heads) override;

  /// Throws:
  ///   IndexError - no model has passed the activation of a hook; the message lists the nearest
  ///                names
  void check_heard() const;

 private:
  std::vector<Hook> hooks_;
  std::map<std::string, bool> passed_;  // names of activations so far; true: has a hook
};

/// Activations by name, in the order in which the model computed them.
class ActivationCache {
 public:
  using Items = std::vector<std::pair<std::string, Tensor>>;

  /// The activation of this name; see Hook::name.
  ///
  /// Throws: IndexError - there is no such activation; the message lists the nearest names
  const Tensor& operator[](const std::string& name) const;
  bool contains(const std::string& name) const;
  std::int64_t size() const noexcept { return std::ssize(items_); }
  Items::const_iterator begin() const noexcept { return items_.begin(); }
  Items::const_iterator end() const noexcept { return items_.end(); }
  /// Adds an activation, or replaces the activation of this name.
  void set(const std::string& name, const Tensor& x);

 private:
  const Tensor* find(const std::string& name) const;

  Items items_;
};

/// Which activations a run stores.
struct CacheOptions {
  /// The names to store; see Hook::name. An empty list means all but hook_result, which needs much
  /// memory.
  std::vector<std::string> names = {};
  /// If given, it is used instead of `names`. It returns true for TransformerLens names whose
  /// activations are to be stored.
  std::function<bool(const std::string& name)> filter = {};
  /// Only for hook_attn_scores and hook_pattern: the heads to store, in this order. An empty list
  /// means all heads.
  std::vector<std::int64_t> heads = {};
};

/// Stores activations of the models that this thread calls while the object exists. They have a
/// graph, so it is possible to compute gradients with respect to them.
class Caching final : public nn::HookListener {
 public:
  explicit Caching(CacheOptions options = {});
  ~Caching() = default;

  bool hears(const std::string& place) override;
  std::vector<std::int64_t> heads(const std::string&) const override { return options_.heads; }
  Tensor pass(const std::string& place, const Tensor& x,
              const std::vector<std::int64_t>& heads) override;

  /// Returns the stored activations.
  ///
  /// Throws: IndexError - no model has passed one of `names`; the message lists the nearest names
  ActivationCache take();

 private:
  CacheOptions options_;
  ActivationCache cache_;
  std::set<std::string> passed_;
};

/// A function without arguments. (Testing a module with std::invocable would compile its forward.)
template <class F>
concept Forward = !std::derived_from<F, nn::ModuleBase> && std::invocable<F&>;

/// A result and the activations that led to it.
template <class Result>
struct CachedRun {
  Result result;
  ActivationCache cache;
};

///@{
/// Calls the model, or a function that calls models, and stores activations on the way:
///
///     const auto [logits, cache] = lens::run_with_cache(model, tokens);
///     const Tensor pattern = cache["blocks.1.attn.hook_pattern"];  // (batch, head, query, key)
///
/// If scores, weights or the scales of norms are stored, the model computes them in separate steps.
/// The result then equals the result of a plain call up to rounding. Otherwise the two results have
/// the same bits. Errors of the model pass through.
///
/// Throws: IndexError - there is no such name or head; the message lists the nearest names
template <Forward F>
auto run_with_cache(F forward, const CacheOptions& options = {}) {
  Caching caching(options);
  auto result = forward();
  return CachedRun<decltype(result)>{std::move(result), caching.take()};
}
template <std::invocable<const Tensor&> Model>
auto run_with_cache(const Model& model, const Tensor& input, const CacheOptions& options = {}) {
  return run_with_cache([&] { return model(input); }, options);
}
///@}

///@{
/// Calls the model, or a function that calls models, with hooks, and returns the result:
///
///     const Tensor without = lens::run_with_hooks(model, tokens,
///         {{"blocks.0.attn.hook_z", [](Tensor z) { z.select(2, 3).zero_(); return z; }}});
///
/// Gradients flow through the hooks' functions. Errors of the model pass through.
///
/// Throws:
///   IndexError - there is no such name or head
///   ShapeError - a hook returns another shape
///   DTypeError - a hook returns another dtype
template <Forward F>
auto run_with_hooks(F forward, std::vector<Hook> hooks) {
  const Hooks guard(std::move(hooks));
  auto result = forward();
  guard.check_heard();
  return result;
}
template <std::invocable<const Tensor&> Model>
auto run_with_hooks(const Model& model, const Tensor& input, std::vector<Hook> hooks) {
  return run_with_hooks([&] { return model(input); }, std::move(hooks));
}
///@}

}  // namespace tend::lens
