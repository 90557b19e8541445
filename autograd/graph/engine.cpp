#include <tend/autograd/graph/engine.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/leaf_gradient.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/node_hook.h>
#include <tend/autograd/graph/object_numbers.h>
#include <tend/autograd/graph/timeline.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/nested_call.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {
namespace {

template <class T>
using PooledVector = std::vector<T, PoolAllocator<T>>;

// The tensors of walk_note, for the walk that runs on this thread.
struct WalkNotes {
  WalkNotes() : outer(std::exchange(innermost, this)) {}
  ~WalkNotes() { innermost = outer; }
  WalkNotes(const WalkNotes&) = delete;
  WalkNotes& operator=(const WalkNotes&) = delete;

  static inline constinit thread_local WalkNotes* innermost = nullptr;
  WalkNotes* outer;  // belongs to the walk whose hook or function started this walk
  std::map<const void*, Tensor> tensors = {};
};

// One walk over the graph. The constructor and prepare() check the arguments and the graph. Only
// run() changes anything.
class Walk {
 public:
  // If `adds`, gradients are added to `.grad`; otherwise gradient_of returns them.
  Walk(const char* operation, bool adds, std::span<const Tensor> outputs,
       std::span<const Tensor> cotangents, bool retain_graph, bool create_graph)
      : operation_(operation),
        adds_(adds),
        retain_graph_(retain_graph || create_graph),
        create_graph_(create_graph) {
    add_roots(outputs, cotangents);
  }

  // After the first call, only gradients that were asked for are computed. `input` must outlive the
  // walk.
  void ask_for(const Tensor& input, const Edge& edge) {
    restricted_ = true;
    const Number number = target(edge);
    if (targets_[number].wanted != nullptr) return;
    targets_[number].wanted = &input;
  }

  void prepare() {
    collect();
    mark_needed();
    for (const auto& [sequence, number] : order_) {
      if (targets_[number].needed) targets_[number].node->check_saved();
    }
    for (const Target& target : targets_) {
      GradientSlot* slot = target.node == nullptr ? target.slot : target.node->retainer.get();
      if (slot == nullptr || !target.reached || !adds_to(target)) continue;
      const std::lock_guard lock(slot->mutex);
      const TensorImpl* owner = slot->owner;
      if (owner != nullptr && takes_gradient(*owner)) check_own_grad_fits(operation_, *owner);
    }
  }

  // After prepare(): true if the results were made from the tensor of this edge.
  bool reaches(const Edge& edge) const { return targets_[numbers_.look_up(id(edge))].reached; }

  void run() {
    const GradModeGuard mode(create_graph_);
    const WalkNotes notes;
    for (Root& root : roots_) {
      const Number number = numbers_.look_up(id(root.edge));
      deliver(number, std::move(root.cotangent));
      pass(number);
    }
    for (const auto& [sequence, number] : order_) {
      visit(number);
      for (const Number to : edges_of(targets_[number])) pass(to);
    }
    add_to_grads();
  }

  // After run(): the gradient, undefined if no gradient arrived.
  Tensor gradient_of(const Edge& edge) const {
    return targets_[numbers_.look_up(id(edge))].gradient;
  }

 private:
  using Number = std::uint32_t;
  static constexpr Number kNowhere = Numbering::kNone;

  // The roots own the whole graph until the walk ends.
  struct Root {
    Edge edge;
    Tensor cotangent;
  };
  // A destination of gradients: a node or a slot.
  struct Target {
    Node* node;          // null for a slot
    GradientSlot* slot;  // null for a node
    Tensor gradient = {};
    const Tensor* wanted = nullptr;  // the input that ask_for received
    std::size_t first_edge = 0;      // for a node: its first index in edges_
    std::uint32_t pending = 0;       // the number of edges to this target that remain to be passed
    bool reached = false;
    bool needed = false;  // leads to a wanted gradient
  };

  // True if gradients that arrive at the target are added to a `.grad`.
  bool adds_to(const Target& target) const {
    return adds_ && (!restricted_ || target.wanted != nullptr);
  }

  static const void* id(const Edge& edge) {
    return edge.node ? static_cast<const void*>(edge.node.get()) : edge.leaf.get();
  }

  Number target(const Edge& edge) {
    const auto [number, is_new] = numbers_.number(id(edge));
    if (is_new) targets_.push_back({edge.node.get(), edge.leaf.get()});
    return number;
  }

  void add_roots(std::span<const Tensor> outputs, std::span<const Tensor> cotangents) {
    if (!cotangents.empty() && cotangents.size() != outputs.size()) {
      fail<AutogradError>(operation_, "needs a gradient for each of the ", outputs.size(),
                          " tensors, got ", cotangents.size());
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined()) fail<AutogradError>(operation_, "tensor ", i, " is undefined");
      Edge edge = gradient_edge(outputs[i]);
      if (!edge)
        fail<AutogradError>(operation_, "tensor ", i, " of shape ", outputs[i].shape(),
                            " does not require grad: it was computed from no tensor that requires "
                            "grad, or grad mode was off");
      roots_.push_back({std::move(edge),
                        cotangent_for(outputs[i], cotangents.empty() ? Tensor() : cotangents[i])});
    }
    if (autograd::DetectAnomaly::is_on()) autograd::check_anomaly(outputs, cotangents);
  }

  Tensor cotangent_for(const Tensor& output, const Tensor& given) const {
    if (!given.defined()) {
      if (output.numel() != 1) {
        fail<AutogradError>(operation_, "the gradient of a tensor of shape ", output.shape(),
                            " must be given: only one-element tensors have the default gradient 1");
      }
      return Tensor(Array::full(output.shape(), 1, output.dtype()));
    }
    if (given.shape() != output.shape()) {
      fail<ShapeError>(operation_, "the gradient of a tensor must have its shape ", output.shape(),
                       ", but has shape ", given.shape());
    }
    return given.to(output.dtype());
  }

  // Lists all nodes that are reachable from the roots, latest first. A node comes after all nodes
  // that used its result.
  void collect() {
    for (const Root& root : roots_) reach(root.edge);
    for (std::size_t i = 0; i < order_.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
      Target& from = targets_[order_[i].second];
      const Node& node = *from.node;
      from.first_edge = edges_.size();
      for (const Edge& edge : node.edges()) edges_.push_back(edge ? reach(edge) : kNowhere);
    }
    const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
    if (!std::is_sorted(order_.begin(), order_.end(), later))
      std::sort(order_.begin(), order_.end(), later);
  }

  Number reach(const Edge& edge) {
    const Number number = target(edge);
    ++targets_[number].pending;
    if (!std::exchange(targets_[number].reached, true) && edge.node)
      order_.emplace_back(edge.node->sequence(), number);
    return number;
  }

  bool is_needed(Number number) const {
    if (number == kNowhere) return false;
    const Target& to = targets_[number];
    return !restricted_ || to.wanted != nullptr || to.needed;
  }

  std::span<const Number> edges_of(const Target& from) const {
    return std::span(edges_).subspan(from.first_edge, from.node->edges().size());
  }

  // Visits the earliest nodes first, so that the targets of a node are marked before the node.
  void mark_needed() {
    for (std::size_t i = order_.size(); i-- > 0;) {
      Target& from = targets_[order_[i].second];
      const std::span<const Number> edges = edges_of(from);
      from.needed = std::any_of(edges.begin(), edges.end(),
                                [this](Number number) { return is_needed(number); });
    }
  }

  void visit(Number number) {
    Tensor gradient = std::move(targets_[number].gradient);
    if (!gradient.defined()) return;
    Node& node = *targets_[number].node;
    if (node.notes() != nullptr) gradient = apply(node.notes()->hooks, std::move(gradient));
    if (targets_[number].wanted != nullptr && !adds_) {
      targets_[number].gradient = gradient;
    } else if (node.retainer && adds_to(targets_[number])) {
      retained_.emplace_back(node.retainer, gradient);
    }
    if (targets_[number].needed) differentiate(node, number, std::move(gradient));
  }

  void differentiate(Node& node, Number number, Tensor gradient) {
    autograd::TimedDerivative timed(node, gradient);
    const std::size_t first = targets_[number].first_edge, count = node.edges().size();
    recipients_.resize(count);
    gradients_.resize(count);
    for (std::size_t i = 0; i < count; ++i) recipients_[i] = recipient(edges_[first + i]);
    {
      Derivative derivative(node, std::move(gradient), recipients_, gradients_);
      node.differentiate(derivative);
    }
    timed.gave(gradients_);
    if (has_hooks_) {
      // Hooks see the gradients as they will be delivered, because a sum of infinities may be NaN.
      for (std::size_t i = 0; i < count; ++i) {
        if (recipients_[i].needed && gradients_[i].defined())
          gradients_[i] = fitted(targets_[edges_[first + i]], std::move(gradients_[i]));
      }
      autograd::NodeHook::call_all(node, gradients_);
    }
    // The saved tensors are freed this early because the next steps may reuse the memory.
    if (!retain_graph_) node.release();
    for (std::size_t i = 0; i < count; ++i) {
      Tensor out = std::move(gradients_[i]);
      if (recipients_[i].needed && out.defined()) deliver(edges_[first + i], std::move(out));
    }
  }

  Derivative::Recipient recipient(Number number) {
    if (!is_needed(number)) return {};
    const Target& to = targets_[number];
    // The derivative may add to the gradient that arrived before only if no hook must see this
    // node's share separately, and no graph must record the sum.
    const bool adds = !has_hooks_ && to.gradient.defined() && may_overwrite(to.gradient) &&
                      to.gradient.is_contiguous();
    return {true, adds ? &to.gradient.array() : nullptr};
  }

  // Returns the gradient in the shape and dtype of its target. The result is undefined if nothing
  // will read it.
  Tensor fitted(const Target& to, Tensor gradient) const {
    if (to.node != nullptr)
      return fit_gradient(std::move(gradient), to.node->shape(), to.node->dtype());
    if (to.wanted != nullptr)
      return fit_gradient(std::move(gradient), to.wanted->shape(), to.wanted->dtype());
    if (!adds_to(to)) return {};
    Shape shape;
    DType dtype = float32;
    {
      const std::lock_guard lock(to.slot->mutex);
      const TensorImpl* owner = to.slot->owner;
      if (owner == nullptr) return {};
      shape = owner->array.shape();
      dtype = owner->array.dtype();
    }
    return fit_gradient(std::move(gradient), shape, dtype);
  }

  void deliver(Number number, Tensor gradient) {
    gradient = fitted(targets_[number], std::move(gradient));
    if (gradient.defined()) accumulate(targets_[number].gradient, std::move(gradient));
  }

  static Tensor apply(const TensorHooks& hooks, Tensor gradient) {
    hooks.for_each([&](const TensorHook& hook) { gradient = hook(gradient); });
    return gradient;
  }

  // After the last edge to a leaf, the leaf's hooks receive its complete gradient.
  void pass(Number number) {
    if (number == kNowhere || --targets_[number].pending > 0) return;
    Target& to = targets_[number];
    if (to.node != nullptr || !to.gradient.defined()) return;
    to.gradient = apply(to.slot->hooks, std::move(to.gradient));
  }

  // Nothing is added to a `.grad` before the end of the walk. Until then a node may have saved the
  // `.grad` for its derivative, the `.grad` may be a cotangent itself, and a hook may throw.
  void add_to_grads() {
    if (!adds_) return;
    for (auto& [slot, gradient] : retained_) add_to_grad(*slot, std::move(gradient), create_graph_);
    for (Target& to : targets_) {
      if (to.node == nullptr && to.gradient.defined())
        add_to_grad(*to.slot, std::move(to.gradient), create_graph_);
    }
  }

  bool may_overwrite(const Tensor& sum) const {
    return !create_graph_ && is_unshared(sum) && !sum.requires_grad();
  }

  // Adds `gradient` to `sum`. Both have the same shape and dtype. If possible, the result uses the
  // memory of one of the two. The bits are the same in all cases.
  void accumulate(Tensor& sum, Tensor gradient) const {
    if (!sum.defined()) {
      sum = std::move(gradient);
    } else if (may_overwrite(sum)) {
      kernels::add(sum.array(), sum.array(), gradient.array());
    } else if (may_overwrite(gradient)) {
      kernels::add(gradient.array(), sum.array(), gradient.array());
      sum = std::move(gradient);
    } else {
      sum = sum.add(gradient);
    }
  }

  const char* operation_;
  bool adds_;
  bool retain_graph_;
  bool create_graph_;
  bool restricted_ = false;
  const bool has_hooks_ = autograd::NodeHook::any();
  PooledVector<Root> roots_;
  Numbering numbers_;  // maps nodes and slots to indices in targets_
  PooledVector<Target> targets_;
  PooledVector<Number> edges_;                            // targets of the edges, node by node
  PooledVector<std::pair<std::uint64_t, Number>> order_;  // sequence and number of nodes
  PooledVector<std::pair<Ref<GradientSlot>, Tensor>> retained_;  // gradients of non-leaves
  PooledVector<Derivative::Recipient> recipients_;  // for the node that is differentiated
  PooledVector<Tensor> gradients_;
};

}  // namespace

namespace autograd {
namespace {

std::vector<Edge> ask_for(Walk& walk, const char* operation, const std::vector<Tensor>& inputs) {
  if (inputs.empty()) fail<AutogradError>(operation, "needs at least one input");
  std::vector<Edge> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    wanted.push_back(gradient_edge(inputs[i]));
    if (!wanted[i]) fail<AutogradError>(operation, "input ", i, " does not require grad");
    walk.ask_for(inputs[i], wanted[i]);
  }
  return wanted;
}

}  // namespace

Tensor& walk_note(const void* key) {
  return WalkNotes::innermost->tensors[key];
}

void backward(std::span<const Tensor> tensors, std::span<const Tensor> gradients, Flag retain_graph,
              Flag create_graph, const std::vector<Tensor>* inputs) {
  const NestedCall nested("backward");
  std::vector<Tensor> wanted;  // a copy, because a hook may change the caller's vector
  if (inputs != nullptr) wanted = *inputs;
  Walk walk("backward", true, tensors, gradients, retain_graph, create_graph);
  if (inputs != nullptr) ask_for(walk, "backward", wanted);
  for (const Tensor& input : wanted) check_own_grad_fits("backward", *input.impl());
  walk.prepare();
  for (Tensor& input : wanted) input.retain_grad();
  walk.run();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, GradOptions options) {
  const NestedCall nested("grad");
  const std::vector<Tensor> asked = inputs;  // a copy, because a hook may change the caller's
  const auto require = [&](bool is_there, std::size_t i, const char* reason) {
    if (options.allow_unused || is_there) return;
    fail<AutogradError>("grad", "input ", i, " of shape ", asked[i].shape(), reason,
                        "; allow_unused gives it an undefined gradient");
  };
  Walk walk("grad", false, outputs, grad_outputs, options.retain_graph, options.create_graph);
  const std::vector<Edge> wanted = ask_for(walk, "grad", asked);
  walk.prepare();
  for (std::size_t i = 0; i < asked.size(); ++i)
    require(walk.reaches(wanted[i]), i, " was not used to make the outputs");
  walk.run();
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    gradients.push_back(walk.gradient_of(wanted[i]));
    require(gradients.back().defined(), i, " got an undefined gradient from a function");
  }
  return gradients;
}

}  // namespace autograd
}  // namespace tend
