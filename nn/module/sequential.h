// Sequential: modules that feed each other.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tend/core/base/destroy.h>
#include <tend/core/base/stack.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// Modules of any classes from Tensor to Tensor, called in order; named "0", "1", ... Copies share
/// the tensors. Sequentials may be nested, thousands deep.
class Sequential : public Module<Sequential> {
 public:
  template <class... Modules>
  explicit Sequential(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  /// Error for modules that are nested more than kMaxDepth deep.
  template <class M>
  void push_back(M module) {
    const int depth = 1 + static_cast<ModuleBase&>(module).depth();
    if (depth > kMaxDepth) fail_depth(depth);
    with_memory([&] { layers_.push_back(LayerPointer(new LayerOf<M>(std::move(module)))); });
    depth_ = std::max(depth_, depth);
  }
  static constexpr int kMaxDepth = 20'000;  // so many nested calls find room on the stack

  Sequential(const Sequential& other) : Module(other), depth_(other.depth_) {
    const auto copy = [&] {
      for (const auto& layer : other.layers_) layers_.push_back(LayerPointer(layer->clone()));
    };
    with_memory([&] { with_stack("Sequential", copy); });
  }
  Sequential(Sequential&&) noexcept = default;
  Sequential& operator=(const Sequential& other) { return *this = Sequential(other); }
  Sequential& operator=(Sequential&&) noexcept = default;
  ~Sequential() override = default;

  std::size_t size() const noexcept { return layers_.size(); }
  /// IndexError for a number out of range.
  ModuleBase& operator[](std::size_t i) {
    if (i >= size()) fail_index("Sequential", i, size());
    return layers_[i]->module();
  }

  Tensor forward(const Tensor& x) const {
    Tensor out = x;
    with_stack("Sequential", [&] {
      for (const auto& layer : layers_) out = layer->call(out);
    });
    return out;
  }

  /// As of the last push_back.
  int depth() override { return depth_; }

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    return with_memory([&] {
      std::vector<std::pair<std::string, ModuleBase*>> children;
      for (const auto& layer : layers_)
        children.emplace_back(std::to_string(children.size()), &layer->module());
      return children;
    });
  }

 private:
  struct Layer : DestroyedInTurn<Layer> {
    virtual ~Layer() = default;
    virtual ModuleBase& module() = 0;
    virtual Tensor call(const Tensor& x) const = 0;
    virtual Layer* clone() const = 0;
  };
  struct DestroyLayer {
    void operator()(Layer* layer) const noexcept {
      destroy_in_turn(layer, [](Layer* each) { delete each; });
    }
  };
  using LayerPointer = std::unique_ptr<Layer, DestroyLayer>;
  template <class M>
  struct LayerOf final : Layer {
    explicit LayerOf(M value) : held(std::move(value)) {}
    ModuleBase& module() override { return held; }
    Tensor call(const Tensor& x) const override { return held(x); }
    Layer* clone() const override { return new LayerOf(held); }
    M held;
  };

  [[noreturn]] static void fail_depth(int depth) {
    fail("Sequential", "modules stand in one another ", depth, " deep, more than ", kMaxDepth);
  }

  int depth_ = 1;
  std::vector<LayerPointer> layers_;  // last: moving a layer into this destroys the layer
};

}  // namespace tend::nn
