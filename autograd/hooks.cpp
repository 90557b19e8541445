#include <tend/autograd/hooks.h>

#include <utility>

#include <tend/autograd/node.h>
#include <tend/autograd/ops.h>
#include <tend/core/distributions.h>

namespace tend::autograd {
namespace {

thread_local NodeHook* latest_hook = nullptr;

}  // namespace

NodeHook::NodeHook(Function function)
    : function_(std::move(function)), before_(std::exchange(latest_hook, this)) {}

NodeHook::~NodeHook() {
  // Most often the latest, but they may go in any order.
  NodeHook** link = &latest_hook;
  while (*link != this) link = &(*link)->before_;
  *link = before_;
}

const NodeHook* NodeHook::latest() noexcept {
  return latest_hook;
}

void NodeHook::operator()(const Node& node, std::span<Tensor> gradients) const {
  function_(node, gradients);
  if (before_ != nullptr) (*before_)(node, gradients);
}

GradientNoise::GradientNoise(std::string name, double standard_deviation)
    : name_(std::move(name)),
      standard_deviation_(standard_deviation),
      hook_([this](const Node& node, std::span<Tensor> gradients) {
        if (node.name() != name_) return;
        for (Tensor& gradient : gradients) {
          if (!gradient.defined()) continue;
          const Tensor noise = empty(gradient.shape(), gradient.dtype());
          kernels::normal(noise.array(), 0, standard_deviation_, generator_);
          gradient = gradient + noise;
          ++count_;
        }
      }) {}

}  // namespace tend::autograd
