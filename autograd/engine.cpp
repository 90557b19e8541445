#include <tend/autograd/engine.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include <tend/autograd/anomaly.h>
#include <tend/autograd/grad_mode.h>
#include <tend/autograd/hooks.h>
#include <tend/autograd/node.h>
#include <tend/autograd/numbering.h>
#include <tend/autograd/ops.h>
#include <tend/core/gemm.h>
#include <tend/core/kernels/arithmetic.h>

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
    for (const auto& [sequence, number] : order_) {
      if (targets_[number].needed) targets_[number].node->check_usable();
    }
  }

  // After prepare(): whether the results were made from what this edge leads to.
  bool reaches(const Edge& edge) const { return targets_[numbers_.look_up(id(edge))].reached; }

  void run() {
    const GradModeGuard mode(create_graph_);
    for (Root& root : roots_) {
      deliver(numbers_.look_up(id(root.edge)), std::move(root.cotangent));
    }
    for (const auto& [sequence, number] : order_) visit(number);
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
    Product product = {};            // of a leaf: its first part, where that is left as factors
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
    for (const Root& root : roots_) reach(root.edge);
    for (std::size_t i = 0; i < order_.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
      Target& from = targets_[order_[i].second];
      const Node& node = *from.node;
      runs_user_code_ = runs_user_code_ || node.runs_user_code();
      from.first_edge = edges_.size();
      for (const Edge& edge : node.edges()) edges_.push_back(edge ? reach(edge) : kNowhere);
    }
    const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
    if (!std::is_sorted(order_.begin(), order_.end(), later))
      std::sort(order_.begin(), order_.end(), later);
  }

  Number reach(const Edge& edge) {
    const Number number = target(edge);
    if (std::exchange(targets_[number].reached, true)) return number;
    if (edge.node) {
      order_.emplace_back(edge.node->sequence(), number);
    } else {
      runs_user_code_ = runs_user_code_ || !edge.leaf->hooks.empty();
    }
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
    places_.resize(count);
    gradients_.resize(count);
    for (std::size_t i = 0; i < count; ++i) places_[i] = place(edges_[first + i]);
    {
      Derivative derivative(node, std::move(gradient), places_, gradients_);
      node.differentiate(derivative);
    }
    if (hook_ != nullptr) (*hook_)(node, gradients_);
    // As early as can be: what comes next may use the memory.
    if (!retain_graph_) node.release();
    for (std::size_t i = 0; i < count; ++i) {
      Tensor out = std::move(gradients_[i]);
      if (places_[i].product != nullptr && *places_[i].product) note_arrival(edges_[first + i]);
      if (places_[i].needed && out.defined()) deliver(edges_[first + i], std::move(out));
    }
  }

  Derivative::Place place(Number number) {
    if (!is_needed(number)) return {};
    // Hooks are to see what a node gives, and a graph is to record how it is made.
    if (hook_ != nullptr || create_graph_) return {true};
    Target& to = targets_[number];
    if (to.gradient.defined())
      return {true, may_overwrite(to.gradient) ? &to.gradient.array() : nullptr};
    // The user's code could write to what a product is made of, or throw.
    const bool may_wait = to.node == nullptr && !restricted_ && !runs_user_code_;
    return may_wait ? Derivative::Place{true, nullptr, to.slot, &to.product}
                    : Derivative::Place{true};
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
    const std::lock_guard lock(to.slot->mutex);
    const TensorImpl* owner = to.slot->owner;
    if (owner == nullptr) return;  // nobody can ask for it any more
    note_arrival(number);
    accumulate(to.gradient, fit(std::move(gradient), owner->array.shape(), owner->array.dtype()));
  }

  void note_arrival(Number leaf) {
    Target& to = targets_[leaf];
    if (!std::exchange(to.arrived, true)) arrivals_.emplace_back(to.slot, leaf);
  }

  static Tensor fit(Tensor gradient, const Shape& shape, DType dtype) {
    if (gradient.shape() != shape) gradient = sum_to_size(gradient, shape);
    if (gradient.dtype() != dtype) gradient = gradient.to(dtype);
    return gradient;
  }

  static Tensor apply(const TensorHooks& hooks, Tensor gradient) {
    hooks.for_each([&](const TensorHook& hook) { gradient = hook(gradient); });
    return gradient;
  }

  // Hooks see the whole gradient of a leaf, not the parts that arrive, and all of them before the
  // first `.grad` changes: when one throws, none has.
  void finish_leaves() {
    for (const auto& [slot, number] : arrivals_) {
      Tensor& gradient = targets_[number].gradient;
      if (gradient.defined()) gradient = apply(slot->hooks, std::move(gradient));
    }
    sort_products();
    for (const auto& [slot, number] : arrivals_) add_to_grad(*slot, number);
    for (const Number leaf : wanted_leaves_) {
      Tensor& gradient = targets_[leaf].gradient;
      if (gradient.defined()) gradient = apply(targets_[leaf].slot->hooks, std::move(gradient));
    }
  }

  // A factor of a product may be another leaf's `.grad`, of a quarter of the product's size at
  // most: that is to change later.
  void sort_products() {
    const auto bytes = [this](const auto& arrival) {
      return targets_[arrival.second].product.bytes;
    };
    if (std::none_of(arrivals_.begin(), arrivals_.end(), bytes)) return;
    std::sort(arrivals_.begin(), arrivals_.end(),
              [&](const auto& a, const auto& b) { return bytes(a) > bytes(b); });
  }

  // Whether nobody but this handle can see the elements, so that they may be overwritten.
  static bool is_unshared(const Tensor& gradient) {
    const TensorImpl& impl = *gradient.impl();
    const Storage& storage = *impl.array.storage();
    return impl.use_count() == 1 && storage.use_count() == 1 && !storage.is_borrowed() &&
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
      sum = add(sum, gradient);
    }
  }

  // `.grad` belongs to the user: it never shares elements with anything else, and is added to in
  // place as PyTorch does.
  void add_to_grad(GradientSlot& slot, Number leaf) {
    Tensor gradient = std::move(targets_[leaf].gradient);
    Product product = std::exchange(targets_[leaf].product, {});
    const auto multiply_out = [&] {
      accumulate(gradient, matmul(product.a, product.b));
      product = {};
    };
    std::unique_lock lock(slot.mutex, std::defer_lock);
    if (!lock.try_lock()) {  // another backward adds to it, and need not be waited for so long
      if (product) multiply_out();
      lock.lock();
    }
    TensorImpl* owner = slot.owner;
    // It may be gone, or frozen since.
    if (owner == nullptr || !(owner->requires_grad || owner->retains_grad)) return;
    Ref<TensorImpl>& sum = owner->grad;
    if (product && sum && takes_product(sum->array, product.a, product.b)) {
      kernels::matmul(sum->array, product.a.array(), product.b.array(), 1, 1);
      sum->array.storage()->bump_version("backward");
    } else if (product) {
      multiply_out();
    }
    if (!gradient.defined()) return;
    if (!sum) {
      sum = is_unshared(gradient) ? gradient.impl() : gradient.clone().impl();
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
  bool restricted_ = false;
  bool runs_user_code_ = false;
  const autograd::NodeHook* hook_ = autograd::NodeHook::latest();
  PooledVector<Root> roots_;
  Numbering numbers_;  // of targets
  PooledVector<Target> targets_;
  PooledVector<Number> edges_;  // where those of the nodes lead to, node by node
  PooledVector<std::pair<std::uint64_t, Number>> order_;         // of the nodes, by sequence
  PooledVector<Number> wanted_leaves_;                           // in the order of asking
  PooledVector<std::pair<Ref<GradientSlot>, Number>> arrivals_;  // in the order of first parts
  PooledVector<Derivative::Place> places_;  // for the node that is differentiated
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
  Walk walk("backward", tensors, gradients, retain_graph, create_graph);
  walk.prepare();
  walk.run();
}

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
