#include <tend/autograd/engine.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <tend/autograd/anomaly.h>
#include <tend/autograd/grad_mode.h>
#include <tend/autograd/hooks.h>
#include <tend/autograd/node.h>
#include <tend/autograd/ops.h>
#include <tend/core/kernels/arithmetic.h>

namespace tend {
namespace {

// One walk over the graph. Everything that can be wrong is found before run() changes anything: by
// the constructor and by prepare().
class Walk {
 public:
  Walk(const char* operation, const std::vector<Tensor>& outputs,
       const std::vector<Tensor>& cotangents, bool retain_graph, bool create_graph)
      : operation_(operation),
        retain_graph_(retain_graph || create_graph),
        create_graph_(create_graph) {
    add_roots(outputs, cotangents);
  }

  // Only gradients of tensors asked for here will be computed.
  void ask_for(const Tensor& input, const Edge& edge) {
    restricted_ = true;
    const bool is_new =
        wanted_.emplace(target(edge), Wanted{input.shape(), input.dtype(), {}, false}).second;
    if (is_new && edge.leaf) wanted_leaves_.push_back(edge.leaf);
  }

  void prepare() {
    collect();
    mark_needed();
    for (const State& state : states_) {
      if (state.needed) state.node->check_usable();
    }
  }

  // After prepare(): whether the results were made from what this edge leads to.
  bool reaches(const Edge& edge) const { return wanted_.at(target(edge)).reached; }

  void run() {
    const GradModeGuard mode(create_graph_);
    for (Root& root : roots_) deliver(root.edge, std::move(root.cotangent));
    for (State& state : states_) visit(state);
    finish_leaves();
  }

  // After run(); undefined where no gradient arrived.
  Tensor gradient_of(const Edge& edge) const { return wanted_.at(target(edge)).gradient; }

 private:
  struct Root {
    Edge edge;
    Tensor cotangent;
  };
  struct State {
    Ref<Node> node;
    Tensor gradient;
    bool needed = true;
    std::vector<bool> edge_needed;
  };
  struct Wanted {
    Shape shape;
    DType dtype;
    Tensor gradient;
    bool reached;
  };

  static const void* target(const Edge& edge) {
    return edge.node ? static_cast<const void*>(edge.node.get()) : edge.leaf.get();
  }

  void add_roots(const std::vector<Tensor>& outputs, const std::vector<Tensor>& cotangents) {
    if (!cotangents.empty() && cotangents.size() != outputs.size()) {
      fail<AutogradError>(operation_, cotangents.size(), " gradients for ", outputs.size(),
                          " tensors");
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined()) fail<AutogradError>(operation_, "tensor ", i, " is undefined");
      Edge edge = gradient_edge(outputs[i]);
      if (!edge)
        fail<AutogradError>(operation_, "tensor ", i, " of shape ", outputs[i].shape(),
                            " does not require grad");
      roots_.push_back({std::move(edge),
                        cotangent_for(outputs[i], cotangents.empty() ? Tensor() : cotangents[i])});
    }
    if (autograd::DetectAnomaly::is_on()) autograd::check_anomaly(outputs, cotangents);
  }

  Tensor cotangent_for(const Tensor& output, const Tensor& given) const {
    if (!given.defined()) {
      if (output.numel() != 1) {
        fail<AutogradError>(
            operation_, "a tensor of shape ", output.shape(),
            " needs a gradient argument: only one-element tensors have the implicit 1");
      }
      return ones(output.shape(), output.dtype());
    }
    if (given.shape() != output.shape()) {
      fail<ShapeError>(operation_, "gradient of shape ", given.shape(), " for a tensor of shape ",
                       output.shape());
    }
    return given.to(output.dtype());
  }

  // All nodes reachable from the roots, latest first: a node comes after everything that used its
  // result.
  void collect() {
    std::vector<Node*> stack;
    std::unordered_map<Node*, std::size_t>& seen = index_;
    const auto reach = [&](const Edge& edge) {
      if (restricted_) {
        const auto wanted = wanted_.find(target(edge));
        if (wanted != wanted_.end()) wanted->second.reached = true;
      }
      if (edge.node && seen.emplace(edge.node.get(), 0).second) {
        stack.push_back(edge.node.get());
        states_.push_back({edge.node, {}, true, {}});
      }
    };
    for (const Root& root : roots_) reach(root.edge);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->edges()) reach(edge);
    }
    std::sort(states_.begin(), states_.end(), [](const State& a, const State& b) {
      return a.node->sequence() > b.node->sequence();
    });
    for (std::size_t i = 0; i < states_.size(); ++i) seen[states_[i].node.get()] = i;
  }

  bool is_needed(const Edge& edge) const {
    if (!edge) return false;
    if (!restricted_) return true;
    if (wanted_.count(target(edge)) > 0) return true;
    return edge.node && states_[index_.at(edge.node.get())].needed;
  }

  // Earliest nodes first, so that what an edge leads to is known.
  void mark_needed() {
    for (auto state = states_.rbegin(); state != states_.rend(); ++state) {
      state->needed = false;
      for (const Edge& edge : state->node->edges()) {
        const bool needed = is_needed(edge);
        state->edge_needed.push_back(needed);
        state->needed = state->needed || needed;
      }
    }
  }

  void visit(State& state) {
    if (!state.gradient.defined()) return;
    Tensor gradient = std::exchange(state.gradient, {});
    if (state.node->notes() != nullptr) gradient = apply(state.node->notes()->hooks, gradient);
    if (restricted_) {
      const auto wanted = wanted_.find(state.node.get());
      if (wanted != wanted_.end()) wanted->second.gradient = gradient;
    } else if (state.node->retainer) {
      arrived(state.node->retainer, gradient);
    }
    if (state.needed) {
      Derivative derivative(state.node, std::move(gradient), state.edge_needed);
      state.node->differentiate(derivative);
      if (hook_ != nullptr) (*hook_)(*state.node, derivative.gradients());
      const std::span<const Edge> edges = state.node->edges();
      for (std::size_t i = 0; i < edges.size(); ++i) {
        Tensor& out = derivative.gradients()[i];
        if (state.edge_needed[i] && out.defined()) deliver(edges[i], std::move(out));
      }
      if (!retain_graph_) state.node->release();
    }
    state.node.reset();
  }

  void deliver(const Edge& edge, Tensor gradient) {
    if (edge.node) {
      gradient = fit(gradient, edge.node->shape(), edge.node->dtype());
      accumulate(states_[index_.at(edge.node.get())].gradient, std::move(gradient));
    } else if (!restricted_) {
      arrived(edge.leaf, gradient);
    } else if (const auto wanted = wanted_.find(edge.leaf.get()); wanted != wanted_.end()) {
      Wanted& leaf = wanted->second;
      accumulate(leaf.gradient, fit(gradient, leaf.shape, leaf.dtype));
    }
  }

  static Tensor fit(const Tensor& gradient, const Shape& shape, DType dtype) {
    return sum_to_size(gradient, shape).to(dtype);
  }

  static Tensor apply(const TensorHooks& hooks, Tensor gradient) {
    hooks.for_each([&](const TensorHook& hook) { gradient = hook(gradient); });
    return gradient;
  }

  // Nothing is added to a `.grad` before the end: nodes that are still to come may have saved it,
  // or it may be a cotangent itself.
  void arrived(const Ref<GradientSlot>& slot, const Tensor& gradient) {
    const std::lock_guard lock(slot->mutex);
    if (slot->owner == nullptr) return;  // nobody can ask for it any more
    const Array& self = slot->owner->array;
    const auto [place, is_new] = arrival_index_.emplace(slot.get(), arrivals_.size());
    if (is_new) arrivals_.emplace_back(slot, Tensor());
    accumulate(arrivals_[place->second].second, fit(gradient, self.shape(), self.dtype()));
  }

  // Hooks see the whole gradient of a leaf, not the parts that arrive.
  void finish_leaves() {
    for (auto& [slot, gradient] : arrivals_) {
      add_to_grad(*slot, apply(slot->hooks, std::move(gradient)));
    }
    for (const Ref<GradientSlot>& leaf : wanted_leaves_) {
      Tensor& gradient = wanted_.at(leaf.get()).gradient;
      if (gradient.defined()) gradient = apply(leaf->hooks, std::move(gradient));
    }
  }

  static void accumulate(Tensor& sum, Tensor gradient) {
    sum = sum.defined() ? add(sum, gradient) : std::move(gradient);
  }

  // `.grad` belongs to the user: it never shares elements with anything else, and is added to in
  // place as PyTorch does.
  void add_to_grad(GradientSlot& slot, Tensor gradient) const {
    const std::lock_guard lock(slot.mutex);
    TensorImpl* owner = slot.owner;
    // It may be gone, or frozen since.
    if (owner == nullptr || !(owner->requires_grad || owner->retains_grad)) return;
    Ref<TensorImpl>& sum = owner->grad;
    if (!sum) {
      const bool unshared =
          gradient.array().storage()->use_count() == 1 && gradient.impl()->use_count() == 1;
      sum = unshared && gradient.is_contiguous() ? gradient.impl() : gradient.clone().impl();
    } else if (create_graph_ || sum->array.may_self_overlap() ||
               sum->array.may_overlap(gradient.array())) {
      sum = add(Tensor(sum), gradient).impl();
    } else {
      kernels::add(sum->array, sum->array, gradient.array());
      sum->array.storage()->bump_version("backward");
    }
  }

  const char* operation_;
  bool retain_graph_;
  bool create_graph_;
  const autograd::NodeHook* hook_ = autograd::NodeHook::latest();
  bool restricted_ = false;
  std::vector<Root> roots_;
  std::vector<State> states_;
  std::unordered_map<Node*, std::size_t> index_;
  std::unordered_map<const void*, Wanted> wanted_;  // by target()
  std::vector<Ref<GradientSlot>> wanted_leaves_;    // those among them, in the order of asking
  std::vector<std::pair<Ref<GradientSlot>, Tensor>> arrivals_;  // in the order of their first parts
  std::unordered_map<const GradientSlot*, std::size_t> arrival_index_;
};

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& gradients,
              bool retain_graph, bool create_graph) {
  Walk walk("backward", tensors, gradients, retain_graph, create_graph);
  walk.prepare();
  walk.run();
}

namespace autograd {

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, GradOptions options) {
  if (inputs.empty()) fail<AutogradError>("grad", "needs at least one input");
  std::vector<Edge> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    wanted.push_back(gradient_edge(inputs[i]));
    if (!wanted.back()) fail<AutogradError>("grad", "input ", i, " does not require grad");
  }
  Walk walk("grad", outputs, grad_outputs, options.retain_graph, options.create_graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) walk.ask_for(inputs[i], wanted[i]);
  walk.prepare();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (options.allow_unused || walk.reaches(wanted[i])) continue;
    fail<AutogradError>(
        "grad", "input ", i, " of shape ", inputs[i].shape(),
        " was not used to make the outputs; allow_unused gives it an undefined gradient");
  }
  walk.run();
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    gradients.push_back(walk.gradient_of(wanted[i]));
    // Used, but without influence.
    if (!gradients.back().defined() && walk.reaches(wanted[i])) {
      gradients.back() = zeros(inputs[i].shape(), inputs[i].dtype());
    }
  }
  return gradients;
}

}  // namespace autograd
}  // namespace tend
