// Sequential: modules that are called one after the other.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// Calls modules in order: each one gets the result of the one before it (torch.nn.Sequential).
///
/// The modules may have any classes whose forward accepts a Tensor and returns one. Their names are
/// "0", "1", ... Copies share the tensors. Sequentials may be nested. Note that Sequential{inner}
/// is a copy of the Sequential `inner`; Sequential{AnyModule(inner)} nests it.
class Sequential : public Module<Sequential> {
 public:
  /// Sequential{Linear(8, 32), Linear(32, 8)}. Braces make the modules from left to right, so their
  /// random weights are the same as in Python. With parentheses, the compiler chooses the order.
  template <class... Modules>
  explicit Sequential(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  template <class M>
  void push_back(M module) {
    static_assert(std::derived_from<M, ModuleBase> || std::same_as<M, AnyModule>,
                  "Sequential accepts modules only; make a function the forward of a module");
    layers_.emplace_back(std::move(module));
  }

  std::size_t size() const noexcept { return layers_.size(); }
  ///@{
  /// The module at a position, which can be called: model[0](x). -1 is the last one.
  ///
  /// Throws: IndexError - the position is out of range
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
  std::size_t checked(std::int64_t i) const { return checked_index("Sequential", i, size()); }

  std::vector<AnyModule> layers_;
};

}  // namespace tend::nn
