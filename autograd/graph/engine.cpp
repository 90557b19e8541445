#include <tend/autograd/graph/engine.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/claims.h>
#include <tend/autograd/graph/hooks.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/numbering.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/stack.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {
namespace {

template <class T>
using PooledVector = std::vector<T, PoolAllocator<T>>;

// One walk over the graph. Everything that can be wrong is found before run() changes anything: by
// the constructor and by prepare().
class Walk {
 public:
  Walk(const char* operation, std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
       bool retain_graph, bool create_graph)
      : operation_(operation),
        retain_graph_(retain_graph || create_graph),
        create_graph_(create_graph) {
    add_roots(outputs, cotangents);
  }

  // Only gradients of tensors asked for here will be computed. `input` outlives the walk.
  void ask_for(const Tensor& input, const Edge& edge) {
    restricted_ = true;
    const Number number = target(edge);
    if (targets_[number].wanted != nullptr) return;
    targets_[number].wanted = &input;
    if (edge.leaf) wanted_leaves_.push_back(number);
  }

  void prepare() {
    collect();
    mark_needed();
    claims_.reserve(order_.size());
    for (const auto& [sequence, number] : order_) {
      const Target& to = targets_[number];
      if (to.needed && to.node->saves()) claims_.add(*to.node);
    }
    claims_.take();
    for (const auto& [sequence, number] : order_) {
      if (targets_[number].needed) targets_[number].node->check_versions();
    }
    for (const Target& target : targets_) {
      if (!target.reached) continue;
      GradientSlot* slot = target.node == nullptr ? target.slot : target.node->retainer.get();
      if (slot == nullptr) continue;
      const std::lock_guard lock(slot->mutex);
      check_leaf(*slot);
    }
  }

  // After prepare(): whether the results were made from what this edge leads to.
  bool reaches(const Edge& edge) const { return targets_[numbers_.look_up(id(edge))].reached; }

  void run() {
    const GradModeGuard mode(create_graph_);
    for (Root& root : roots_) {
      deliver(numbers_.look_up(id(root.edge)), std::move(root.cotangent));
    }
    for (const auto& [sequence, number] : order_) {
      visit(number);
      claims_.pass(*targets_[number].node);
    }
    finish_leaves();
  }

  // After run(); undefined where no gradient arrived.
  Tensor gradient_of(const Edge& edge) const {
    return targets_[numbers_.look_up(id(edge))].gradient;
  }

 private:
  using Number = std::uint32_t;
  static constexpr Number kNowhere = Numbering::kNone;

  // The roots keep the whole graph alive until the end.
  struct Root {
    Edge edge;
    Tensor cotangent;
  };
  // What gradients arrive at.
  struct Target {
    Node* node;          // either this
    GradientSlot* slot;  // or this
    Tensor gradient = {};
    const Tensor* wanted = nullptr;  // what ask_for was given
    std::size_t first_edge = 0;      // of a node: its place in edges_
    bool arrived = false;            // a leaf: stands in arrivals_
    bool reached = false;
    bool needed = false;  // leads to what is wanted
  };

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
      return Tensor(Array::full(output.shape(), 1, output.dtype()));
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

  // Earliest nodes first, so that what an edge leads to is known.
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
    if (targets_[number].wanted != nullptr) {
      targets_[number].gradient = gradient;
    } else if (!restricted_ && node.retainer) {
      deliver(target({{}, node.retainer}), gradient);
    }
    if (targets_[number].needed) differentiate(node, number, std::move(gradient));
  }

  void differentiate(Node& node, Number number, Tensor gradient) {
    const std::size_t first = targets_[number].first_edge, count = node.edges().size();
    recipients_.resize(count);
    gradients_.resize(count);
    for (std::size_t i = 0; i < count; ++i) recipients_[i] = recipient(edges_[first + i]);
    {
      Derivative derivative(node, std::move(gradient), recipients_, gradients_);
      node.differentiate(derivative);
    }
    if (!hooks_.empty()) autograd::NodeHook::call(hooks_, node, gradients_);
    // As early as can be: what comes next may use the memory.
    if (!retain_graph_) node.release();
    for (std::size_t i = 0; i < count; ++i) {
      Tensor out = std::move(gradients_[i]);
      if (recipients_[i].needed && out.defined()) deliver(edges_[first + i], std::move(out));
    }
  }

  Derivative::Recipient recipient(Number number) {
    if (!is_needed(number)) return {};
    const Target& to = targets_[number];
    // Hooks are to see what a node gives, and a graph is to record how it is made.
    const bool adds = hooks_.empty() && to.gradient.defined() && may_overwrite(to.gradient);
    return {true, adds ? &to.gradient.array() : nullptr};
  }

  void deliver(Number number, Tensor gradient) {
    Target& to = targets_[number];
    if (to.node != nullptr) {
      accumulate(to.gradient, fit(std::move(gradient), to.node->shape(), to.node->dtype()));
    } else if (to.wanted != nullptr) {
      accumulate(to.gradient, fit(std::move(gradient), to.wanted->shape(), to.wanted->dtype()));
    } else if (!restricted_) {
      arrive(number, std::move(gradient));
    }
  }

  // Nothing is added to a `.grad` before the end: nodes that are still to come may have saved it,
  // or it may be a cotangent itself.
  void arrive(Number number, Tensor gradient) {
    Target& to = targets_[number];
    Shape shape;
    DType dtype = float32;
    {
      const std::lock_guard lock(to.slot->mutex);
      const TensorImpl* owner = to.slot->owner;
      if (owner == nullptr && !to.slot->former) return;  // nobody can ask for it any more
      shape = owner != nullptr ? owner->array.shape() : to.slot->former->shape;
      dtype = owner != nullptr ? owner->array.dtype() : to.slot->former->dtype;
    }
    if (!std::exchange(to.arrived, true)) arrivals_.emplace_back(to.slot, number);
    accumulate(to.gradient, fit(std::move(gradient), shape, dtype));
  }

  static Tensor fit(Tensor gradient, const Shape& shape, DType dtype) {
    if (gradient.shape() != shape) gradient = gradient.sum_to_size(shape);
    if (gradient.dtype() != dtype) gradient = gradient.to(dtype);
    return gradient;
  }

  static Tensor apply(const TensorHooks& hooks, Tensor gradient) {
    hooks.for_each([&](const TensorHook& hook) { gradient = hook(gradient); });
    return gradient;
  }

  // Hooks see the whole gradient of a leaf, not the parts that arrive, and all of them run before
  // the first `.grad` changes: when one throws, none has. What else can fail comes before that,
  // too.
  void finish_leaves() {
    for (const auto& [slot, number] : arrivals_) {
      Tensor& gradient = targets_[number].gradient;
      gradient = apply(slot->hooks, std::move(gradient));
    }
    PooledVector<Addition> additions;
    additions.reserve(arrivals_.size());
    for (const auto& [slot, number] : arrivals_)
      additions.push_back(addition(*slot, targets_[number].gradient));
    for (Addition& each : additions) add_to_grad(each);
    for (const Number leaf : wanted_leaves_) {
      Tensor& gradient = targets_[leaf].gradient;
      if (gradient.defined()) gradient = apply(targets_[leaf].slot->hooks, std::move(gradient));
    }
  }

  // Throws where the gradient that a leaf waits for, or has, is none for what the leaf is now. With
  // the slot's mutex held.
  void check_leaf(const GradientSlot& slot) const {
    if (slot.former) check_former(slot);
    const TensorImpl* owner = slot.owner;
    if (owner == nullptr || restricted_ || !takes_gradient(*owner)) return;
    check_own_grad_fits(operation_, *owner);
  }

  void check_former(const GradientSlot& slot) const {
    const GradientSlot* latest = &slot;
    // The owner cannot go while its slot is locked; `slot` itself is.
    std::unique_lock<detail::ObjectMutex> lock;
    while (latest->former) {
      GradientSlot* next = latest->former->successor.get();
      lock = std::unique_lock(next->mutex);
      latest = next;
    }
    const TensorImpl* owner = latest->owner;
    if (owner == nullptr || !takes_gradient(*owner)) return;
    if (restricted_ && !is_wanted(*latest)) return;
    fail<ShapeError>(operation_, "a leaf that the graph was recorded with, ", slot.former->shape,
                     ' ', slot.former->dtype, ", has become another view or got other elements, ",
                     owner->array.shape(), ' ', owner->array.dtype(), ", since then");
  }

  bool is_wanted(const GradientSlot& slot) const {
    const Number number = numbers_.look_up(&slot);
    return number != kNowhere && targets_[number].wanted != nullptr;
  }

  // False for a leaf that was frozen.
  static bool takes_gradient(const TensorImpl& tensor) {
    return tensor.requires_grad || tensor.retains_grad;
  }

  // Whether nobody but so many handles here can see the elements, so that they may be overwritten.
  static bool is_unshared(const Tensor& gradient, std::uint32_t handles = 1) {
    const TensorImpl& impl = *gradient.impl();
    const Storage& storage = *impl.array.storage();
    return impl.use_count() == handles && storage.use_count() == 1 && !storage.is_borrowed() &&
           impl.array.is_contiguous();
  }

  bool may_overwrite(const Tensor& sum) const {
    return !create_graph_ && is_unshared(sum) && !sum.requires_grad();
  }

  // Both have one shape and dtype. The sum is made in the memory of one of them where it may be: it
  // has the same bits there.
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

  // What becomes of a `.grad`: another tensor, or the sum in its place.
  struct Addition {
    GradientSlot* slot;
    Tensor gradient;
    Ref<TensorImpl> before;      // the `.grad` that this was made for
    std::uint32_t version = 0;   // of its elements
    Ref<TensorImpl> after = {};  // null: `before`, written in place
  };

  // All that needs memory, or can fail, is done here. `.grad` belongs to the user: it never shares
  // elements with anything else, and is added to in place as PyTorch does.
  Addition addition(GradientSlot& slot, const Tensor& gradient) const {
    Addition out{&slot, gradient, {}};
    bool is_leaf = true;
    {
      const std::lock_guard lock(slot.mutex);
      check_leaf(slot);
      if (const TensorImpl* owner = slot.owner) {
        out.before = owner->grad;
        is_leaf = owner->requires_grad;
      }
    }
    if (!out.before) {
      // The target has a handle, and this one.
      out.after = is_unshared(gradient, 2) ? gradient.impl() : gradient.clone().impl();
      return out;
    }
    const Array& sum = out.before->array;
    out.version = sum.storage()->version();
    // PyTorch adds to what a tensor with history retains in a new tensor, too.
    if (create_graph_ || !is_leaf || sum.storage()->is_inference() || sum.may_self_overlap() ||
        sum.may_overlap(gradient.array()))
      out.after = Tensor(out.before).add(gradient).impl();
    return out;
  }

  void add_to_grad(Addition& each) const {
    // Another thread may have added to it since.
    while (!try_add(each)) each = addition(*each.slot, each.gradient);
  }

  // False where the addition was made for another `.grad` than there is now. What is replaced stays
  // alive in `each`, since the end of a tensor may run code of the user, which must not be locked
  // out.
  static bool try_add(Addition& each) {
    const std::lock_guard lock(each.slot->mutex);
    TensorImpl* owner = each.slot->owner;
    // It may be gone, or frozen since.
    if (owner == nullptr || !takes_gradient(*owner)) return true;
    if (owner->grad != each.before) return false;
    if (!each.after) {
      const Array& sum = each.before->array;
      kernels::add(sum, sum, each.gradient.array());
      sum.storage()->bump_version("backward");
      return true;
    }
    if (each.before && each.before->array.storage()->version() != each.version) return false;
    owner->grad.swap(each.after);
    return true;
  }

  const char* operation_;
  bool retain_graph_;
  bool create_graph_;
  bool restricted_ = false;
  // Kept for the walk, in which hooks may end.
  const autograd::NodeHook::Entries hooks_ = autograd::NodeHook::of_this_thread();
  PooledVector<Root> roots_;
  Claims claims_{!retain_graph_};  // of nodes that the roots keep alive
  Numbering numbers_;              // of targets
  PooledVector<Target> targets_;
  PooledVector<Number> edges_;  // where those of the nodes lead to, node by node
  PooledVector<std::pair<std::uint64_t, Number>> order_;         // of the nodes, by sequence
  PooledVector<Number> wanted_leaves_;                           // in the order of asking
  PooledVector<std::pair<Ref<GradientSlot>, Number>> arrivals_;  // in the order of first parts
  PooledVector<Derivative::Recipient> recipients_;  // for the node that is differentiated
  PooledVector<Tensor> gradients_;
};

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& gradients,
              Flag retain_graph, Flag create_graph) {
  autograd::backward(tensors, gradients, retain_graph, create_graph);
}

namespace autograd {

void backward(std::span<const Tensor> tensors, std::span<const Tensor> gradients, Flag retain_graph,
              Flag create_graph) {
  const auto add_gradients = [&] {
    Walk walk("backward", tensors, gradients, retain_graph, create_graph);
    walk.prepare();
    walk.run();
  };
  with_memory([&] { with_stack("backward", add_gradients); });
}

namespace {

std::vector<Tensor> find_gradients(const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grad_outputs,
                                   const GradOptions& options) {
  std::vector<Edge> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    wanted.push_back(gradient_edge(inputs[i]));
    if (!wanted.back()) fail<AutogradError>("grad", "input ", i, " does not require grad");
  }
  const auto require = [&](bool is_there, std::size_t i, const char* reason) {
    if (options.allow_unused || is_there) return;
    fail<AutogradError>("grad", "input ", i, " of shape ", inputs[i].shape(), reason,
                        "; allow_unused gives it an undefined gradient");
  };
  Walk walk("grad", outputs, grad_outputs, options.retain_graph, options.create_graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) walk.ask_for(inputs[i], wanted[i]);
  walk.prepare();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require(walk.reaches(wanted[i]), i, " was not used to make the outputs");
  }
  walk.run();
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    gradients.push_back(walk.gradient_of(wanted[i]));
    require(gradients.back().defined(), i, " got an undefined gradient from a function");
  }
  return gradients;
}

}  // namespace

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, GradOptions options) {
  if (inputs.empty()) fail<AutogradError>("grad", "needs at least one input");
  std::vector<Tensor> gradients;
  with_memory([&] {
    with_stack("grad", [&] { gradients = find_gradients(outputs, inputs, grad_outputs, options); });
  });
  return gradients;
}

}  // namespace autograd
}  // namespace tend
