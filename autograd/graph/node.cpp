#include <tend/autograd/graph/node.h>

#include <atomic>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/strided_region.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend {
namespace {

std::uint64_t next_sequence() noexcept {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Node::Node(const char* operation, const char* grad_fn) noexcept
    : operation_(operation), grad_fn_(grad_fn) {}

void Node::destroy(Node* node) noexcept {
  // Deleting a node releases the nodes of its inputs. In a long graph this would recurse deeply.
  destroy_in_turn(node, [](Node* each) { delete each; });
}

void Node::check_saved() const {
  if (freed_) {
    fail<AutogradError>(
        operation_,
        "the graph was freed by an earlier backward; call the earlier one with retain_graph = "
        "true");
  }
  for (const SavedTensor& saved : saved_) saved.check_version(operation_);
}

NodeNotes& Node::make_notes() {
  if (!notes_) notes_ = std::make_unique<NodeNotes>();
  return *notes_;
}

void Node::release() {
  if (!saves_) return;
  freed_ = true;
  saved_.clear();
}

Tensor Derivative::saved(std::size_t i) const {
  // A hook may have run backward through this graph since the walk began, and freed it.
  if (node_.is_freed()) node_.check_saved();
  return node_.saved()[i].unpack(&node_);
}

bool tracks(std::span<const TensorRef> inputs) {
  if (!grad_enabled()) return false;
  for (const TensorRef& input : inputs) {
    if (input.get() != nullptr && input.get()->requires_grad()) return true;
  }
  return false;
}

Tensor Recorder::attach(Ref<Node> node, Array&& result, std::span<const TensorRef> inputs,
                        std::span<const TensorRef> saved) {
  Tensor out(std::move(result));
  node->shape_ = out.shape();
  node->dtype_ = out.dtype();
  node->edges_.reserve(inputs.size());
  for (const TensorRef& input : inputs) {
    node->edges_.push_back(input.get() != nullptr ? gradient_edge(*input.get()) : Edge{});
  }
  const auto edge_to = [&](const TensorRef& tensor) -> const Edge* {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].get() == tensor.get()) return &node->edges_[i];
    }
    return nullptr;
  };
  node->saved_.reserve(saved.size());
  for (const TensorRef& each : saved) {
    const bool is_defined = each.get() != nullptr && each.get()->defined();
    if (each.is_output()) {
      node->saved_.emplace_back(out, true);
    } else if (is_defined) {
      node->saved_.emplace_back(*each.get(), false, edge_to(each));
    } else {
      node->saved_.emplace_back();
    }
    node->saves_ = node->saves_ || each.is_output() || is_defined;
  }
  // The number is assigned last: views among the inputs may have got new nodes above, which must
  // have smaller numbers.
  node->sequence_ = next_sequence();
  if (autograd::DetectAnomaly::is_on()) autograd::note_anomaly(*node, out, inputs);
  if (autograd::Timeline::is_on()) autograd::Timeline::note_module(*node);
  out.impl()->set_grad_fn(std::move(node));
  return out;
}

void link_view(const Tensor& view, const Tensor& input) {
  if (!grad_enabled()) return;
  const Ref<TensorImpl> base = live_base(*input.impl());
  view.impl()->base = base ? base : input.impl();
  view.impl()->base_version = view.array().storage()->version();
}

Ref<TensorImpl> live_base(const TensorImpl& view) {
  const bool lives = view.base && view.base->array.storage() == view.array.storage();
  return lives ? view.base : Ref<TensorImpl>();
}

void renew_written_view(TensorImpl& view) {
  const std::uint32_t version = view.array.storage()->version();
  if (view.base_version == version) return;
  const Tensor base(live_base(view));
  if (base.requires_grad()) {
    const GradModeGuard recorded(true);
    view.set_grad_fn(region_of(base, view.array).impl()->grad_fn);
  }
  view.base_version = version;
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  TensorImpl& impl = *tensor.impl();
  renew_view_history(impl);
  if (impl.grad_fn) return {impl.grad_fn, {}};
  if (impl.requires_grad) return {{}, impl.slot};
  return {};
}

}  // namespace tend
