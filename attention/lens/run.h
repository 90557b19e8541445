/// \file
/// Runs of a model whose activations are read or replaced by name.
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

/// A place in a user's own model (nn/module/hook_point.h).
using nn::HookPoint;

/// What to do with an activation: `function` gets it and returns what the model goes on with.
struct Hook {
  /// TransformerLens's name, that of its version 3, or the path of modules that leads to it.
  std::string name;
  std::function<Tensor(Tensor)> function;
  /// Of hook_attn_scores and hook_pattern: the heads that it gets, in this order; all for none.
  /// Other heads stay on the fused path.
  std::vector<std::int64_t> heads = {};
};

/// Applies hooks to every model that this thread calls while it lives. Hooks of one name are called
/// in their order.
class Hooks final : public nn::HookListener {
 public:
  explicit Hooks(std::vector<Hook> hooks);
  ~Hooks() = default;

  bool hears(const std::string& place) override;
  std::vector<std::int64_t> heads(const std::string& place) const override;
  Tensor pass(const std::string& place, const Tensor& x,
              const std::vector<std::int64_t>& heads) override;

  /// IndexError for a hook whose activation no model has passed; it lists the nearest names.
  void check_heard() const;

 private:
  std::vector<Hook> hooks_;
  std::map<std::string, bool> passed_;  // by name, whether a hook has it
};

/// Activations by name, in the order in which the model made them.
class ActivationCache {
 public:
  using Items = std::vector<std::pair<std::string, Tensor>>;

  /// That of a name, as Hook::name. IndexError, which lists the nearest names.
  const Tensor& operator[](const std::string& name) const;
  bool contains(const std::string& name) const;
  std::int64_t size() const noexcept { return std::ssize(items_); }
  Items::const_iterator begin() const noexcept { return items_.begin(); }
  Items::const_iterator end() const noexcept { return items_.end(); }
  /// Adds an activation, or replaces the one of that name.
  void set(const std::string& name, const Tensor& x);

 private:
  const Tensor* find(const std::string& name) const;

  Items items_;
};

/// What a cache keeps.
struct CacheOptions {
  /// The names to keep, as Hook::name; none means all but hook_result, which takes much memory.
  std::vector<std::string> names = {};
  /// Instead: whether to keep an activation of this name, TransformerLens's.
  std::function<bool(const std::string& name)> filter = {};
  /// Of hook_attn_scores and hook_pattern: the heads to keep, in this order; all for none.
  std::vector<std::int64_t> heads = {};
};

/// Keeps activations of the models that this thread calls while it lives. They keep their graph, so
/// gradients with respect to them can be taken.
class Caching final : public nn::HookListener {
 public:
  explicit Caching(CacheOptions options = {});
  ~Caching() = default;

  bool hears(const std::string& place) override;
  std::vector<std::int64_t> heads(const std::string&) const override { return options_.heads; }
  Tensor pass(const std::string& place, const Tensor& x,
              const std::vector<std::int64_t>& heads) override;

  /// What was kept. IndexError for one of the wanted names that no model has passed.
  ActivationCache take();

 private:
  CacheOptions options_;
  ActivationCache cache_;
  std::set<std::string> passed_;
};

/// A function without arguments. (To ask a module that would compile its forward.)
template <class F>
concept Forward = !std::derived_from<F, nn::ModuleBase> && std::invocable<F&>;

/// A result and the activations that led to it.
template <class Result>
struct CachedRun {
  Result result;
  ActivationCache cache;
};

///@{
/// Calls the model, or a function that calls models, and keeps activations on the way:
///
///     const auto [logits, cache] = lens::run_with_cache(model, tokens);
///     const Tensor pattern = cache["blocks.1.attn.hook_pattern"];  // (batch, head, query, key)
///
/// Where scores, weights or the scales of norms are kept, the result equals that of a plain call
/// but for rounding; otherwise it has the same bits. IndexError for a wanted name that is not
/// there, with the nearest ones, and for a head that is not there; what the model throws.
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
/// Calls the model, or a function that calls models, with hooks, and returns its result:
///
///     const Tensor without = lens::run_with_hooks(model, tokens,
///         {{"blocks.0.attn.hook_z", [](Tensor z) { z.select(2, 3).zero_(); return z; }}});
///
/// Gradients flow through what the hooks do. IndexError for a name or head that is not there,
/// ShapeError and DTypeError for a hook that returns another shape or dtype, what the model throws.
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
