#include <tend/autograd/graph/node_hook.h>

#include <utility>
#include <vector>

namespace tend::autograd {
namespace {

thread_local std::vector<const NodeHook*> hooks;  // in the order of their construction

}  // namespace

NodeHook::NodeHook(Function function) : function_(std::move(function)) {
  hooks.push_back(this);
}

NodeHook::~NodeHook() {
  std::erase(hooks, this);
}

bool NodeHook::any() noexcept {
  return !hooks.empty();
}

void NodeHook::call_all(const Node& node, std::span<Tensor> gradients) {
  const std::vector<const NodeHook*> now = hooks;
  for (auto hook = now.rbegin(); hook != now.rend(); ++hook) (*hook)->function_(node, gradients);
}

}  // namespace tend::autograd
