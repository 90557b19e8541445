// Sequential: modules that feed each other.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// Modules of any classes from Tensor to Tensor, called in order; named "0", "1", ... Copies share
/// the tensors. One that is being called must not be moved from, which the constructor cannot
/// check. Sequentials may be nested, thousands deep; a single one in braces is a copy of it, and
/// Sequential{AnyModule(inner)} nests it.
class Sequential : public Module<Sequential> {
 public:
  /// Sequential{Linear(8, 32), Linear(32, 8)}, in braces, makes the modules from left to right, so
  /// that they draw their weights as in Python; in parentheses the order is the compiler's choice.
  template <class... Modules>
  explicit Sequential(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  /// Error for modules that are nested more than kMaxDepth deep, while this or one of its modules
  /// is called, and where register_module has given away the name, which is the number of modules
  /// so far.
  template <class M>
  void push_back(M module) {
    static_assert(std::derived_from<M, ModuleBase> || std::same_as<M, AnyModule>,
                  "Sequential takes modules; a function can be the forward of a small one");
    check_next("Sequential", size());
    check_idle("Sequential");
    const int depth = check_depth("Sequential", base_of(module));
    layers_.emplace_back(std::move(module));
    depth_ = std::max(depth_, depth);
  }

  Sequential(const Sequential& other)
      : Module(other), depth_(other.depth_), layers_(other.layers_) {}
  Sequential(Sequential&& other) noexcept
      : Module(std::move(other)),
        depth_(std::exchange(other.depth_, 0)),
        layers_(std::move(other.layers_)) {}
  Sequential& operator=(const Sequential& other) { return *this = Sequential(other); }
  Sequential& operator=(Sequential&& other) {
    check_idle("Sequential");
    // One that was moved from stands nowhere, and loops that nest modules assign to such.
    if (depth_ > 0) check_outside(other);
    Sequential moved(std::move(other));  // which may stand in this one
    depth_ = moved.depth_;
    layers_.swap(moved.layers_);
    take(std::move(moved));
    return *this;
  }
  ~Sequential() override = default;

  std::size_t size() const noexcept { return layers_.size(); }
  ///@{
  /// Can be called: model[0](x); -1 is the last one. IndexError for a number out of range.
  AnyModule& operator[](Integer i) { return layers_[checked(i)]; }
  const AnyModule& operator[](Integer i) const { return layers_[checked(i)]; }
  ///@}
  auto begin() noexcept { return layers_.begin(); }
  auto end() noexcept { return layers_.end(); }
  auto begin() const noexcept { return layers_.begin(); }
  auto end() const noexcept { return layers_.end(); }

  Tensor forward(const Tensor& x) const {
    Tensor out = x;
    for (const AnyModule& layer : layers_) out = layer(out);
    return out;
  }

  /// That of the modules which are called is as of the last push_back.
  int depth() override { return std::max(depth_, registered_depth()); }

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    auto children = ModuleBase::named_children();
    for (std::size_t i = 0; i < layers_.size(); ++i)
      children.emplace_back(std::to_string(i), &layers_[i].module());
    return children;
  }

 private:
  std::size_t checked(std::int64_t i) const { return checked_place("Sequential", i, size()); }

  int depth_ = 1;
  std::vector<AnyModule> layers_;
};

}  // namespace tend::nn
