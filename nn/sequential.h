// Sequential: modules that feed each other.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/module.h>

namespace tend::nn {

/// Modules of any classes from Tensor to Tensor, called in order; named "0", "1", ... Copies share
/// the tensors.
class Sequential : public Module<Sequential> {
 public:
  template <class... Modules>
  explicit Sequential(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  template <class M>
  void push_back(M module) {
    layers_.push_back(std::make_unique<LayerOf<M>>(std::move(module)));
  }

  Sequential(const Sequential& other) : Module(other) {
    for (const auto& layer : other.layers_) layers_.push_back(layer->clone());
  }
  Sequential(Sequential&&) noexcept = default;
  Sequential& operator=(const Sequential& other) { return *this = Sequential(other); }
  Sequential& operator=(Sequential&&) noexcept = default;
  ~Sequential() override = default;

  std::size_t size() const noexcept { return layers_.size(); }
  ModuleBase& operator[](std::size_t i) { return layers_.at(i)->module(); }

  Tensor forward(const Tensor& x) const {
    Tensor out = x;
    for (const auto& layer : layers_) out = layer->call(out);
    return out;
  }

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    std::vector<std::pair<std::string, ModuleBase*>> children;
    for (const auto& layer : layers_)
      children.emplace_back(std::to_string(children.size()), &layer->module());
    return children;
  }

 private:
  struct Layer {
    virtual ~Layer() = default;
    virtual ModuleBase& module() = 0;
    virtual Tensor call(const Tensor& x) const = 0;
    virtual std::unique_ptr<Layer> clone() const = 0;
  };
  template <class M>
  struct LayerOf final : Layer {
    explicit LayerOf(M value) : held(std::move(value)) {}
    ModuleBase& module() override { return held; }
    Tensor call(const Tensor& x) const override { return held(x); }
    std::unique_ptr<Layer> clone() const override { return std::make_unique<LayerOf>(held); }
    M held;
  };

  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace tend::nn
