#include <tend/autograd/hooks.h>

#include <unordered_set>
#include <utility>

#include <tend/autograd/node.h>
#include <tend/autograd/ops.h>
#include <tend/core/distributions.h>

namespace tend::autograd {
namespace {

thread_local const NodeHook* latest_hook = nullptr;

}  // namespace

NodeHook::NodeHook(Function function)
    : function_(std::move(function)), before_(std::exchange(latest_hook, this)) {}

NodeHook::~NodeHook() {
  latest_hook = before_;
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

std::set<std::string> node_names(const std::vector<Tensor>& tensors) {
  std::set<std::string> names;
  std::unordered_set<const Node*> seen;
  std::vector<Ref<Node>> stack;
  const auto reach = [&](const Edge& edge) {
    if (edge.node && seen.insert(edge.node.get()).second) stack.push_back(edge.node);
  };
  for (const Tensor& tensor : tensors) reach(gradient_edge(tensor));
  while (!stack.empty()) {
    const Ref<Node> node = std::move(stack.back());
    stack.pop_back();
    names.insert(node->name());
    for (const Edge& edge : node->edges()) reach(edge);
  }
  return names;
}

}  // namespace tend::autograd
