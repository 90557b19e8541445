// Sequential: modules that feed each other.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// Modules of any classes from Tensor to Tensor, called in order; named "0", "1", ... Copies share
/// the tensors. Sequentials may be nested; a single one in braces is a copy of it, and
/// Sequential{AnyModule(inner)} nests it.
class Sequential : public Module<Sequential> {
 public:
  /// Sequential{Linear(8, 32), Linear(32, 8)}, in braces, makes the modules from left to right, so
  /// that they draw their weights as in Python; in parentheses the order is the compiler's choice.
  template <class... Modules>
  explicit Sequential(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  template <class M>
  void push_back(M module) {
    static_assert(std::derived_from<M, ModuleBase> || std::same_as<M, AnyModule>,
                  "Sequential takes modules; a function can be the forward of a small one");
    layers_.emplace_back(std::move(module));
  }

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

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    auto children = ModuleBase::named_children();
    for (std::size_t i = 0; i < layers_.size(); ++i)
      children.emplace_back(std::to_string(i), &layers_[i].module());
    return children;
  }

 private:
  std::size_t checked(std::int64_t i) const { return checked_place("Sequential", i, size()); }

  std::vector<AnyModule> layers_;
};

}  // namespace tend::nn
