#include <tend/autograd/graph/anomaly.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tend/autograd/graph/call_scope.h>
#include <tend/autograd/graph/node.h>

namespace tend::autograd {
namespace {

// Returns the row-major index of the first NaN, or -1.
std::int64_t find_nan(const Tensor& x) {
  if (!x.defined() || !is_floating(x.dtype()) || x.numel() == 0) return -1;
  const Array elements = x.array().contiguous();
  return visit_dtype(elements.dtype(), [&](auto tag) -> std::int64_t {
    using T = typename decltype(tag)::type;
    const T* first = elements.data<T>();
    const T* last = first + elements.numel();
    const T* nan = std::find_if(first, last, [](T value) { return value != value; });
    return nan == last ? -1 : nan - first;
  });
}

// Returns a text such as "log, run by GPT.blocks.0".
std::string describe(const Node& node) {
  const bool known = node.notes() != nullptr && !node.notes()->module.empty();
  return known ? as_text(node.operation(), ", run by ", node.notes()->module) : node.operation();
}

bool made_nan(const Node& node) {
  return node.notes() != nullptr && node.notes()->nan_element >= 0;
}

// Follows NaN from `start` back through the graph, and returns the earliest node that it reaches.
Ref<Node> origin_of_nan(const Ref<Node>& start) {
  std::unordered_set<const Node*> seen{start.get()};
  std::vector<Ref<Node>> stack{start};
  Ref<Node> origin = start;
  while (!stack.empty()) {
    const Ref<Node> node = std::move(stack.back());
    stack.pop_back();
    if (node->sequence() < origin->sequence()) origin = node;
    for (const Edge& edge : node->edges()) {
      if (edge.node && made_nan(*edge.node) && seen.insert(edge.node.get()).second) {
        stack.push_back(edge.node);
      }
    }
  }
  return origin;
}

void check_gradients(const Node& node, std::span<Tensor> gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::int64_t element = find_nan(gradients[i]);
    if (element < 0) continue;
    const Shape& shape = gradients[i].shape();
    fail<AutogradError>("backward", "the first NaN is made by the derivative of ", describe(node),
                        ": element ", unravel_index(element, shape),
                        " of the gradient of its input ", i, ", shape ", shape);
  }
}

}  // namespace

DetectAnomaly::DetectAnomaly() : hook_(check_gradients) {
  ++count_;
}

void note_anomaly(Node& node, const Tensor& result, std::span<const TensorRef> inputs) {
  NodeNotes& notes = node.make_notes();
  notes.module = CallScope::current_path();
  notes.nan_element = find_nan(result);
  if (notes.nan_element < 0) return;
  for (std::size_t i = 0; i < inputs.size() && notes.nan_input < 0; ++i) {
    if (inputs[i].get() != nullptr && find_nan(*inputs[i].get()) >= 0) {
      notes.nan_input = static_cast<std::int64_t>(i);
    }
  }
}

void check_anomaly(std::span<const Tensor> results, std::span<const Tensor> cotangents) {
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    if (find_nan(cotangents[i]) >= 0) {
      fail<AutogradError>("backward", "the gradient that was given for tensor ", i, " has NaN");
    }
  }
  for (const Tensor& result : results) {
    const Ref<Node> last = gradient_edge(result).node;
    if (!last || find_nan(result) < 0) continue;
    const Ref<Node> origin = origin_of_nan(last);
    if (!made_nan(*origin)) continue;  // recorded before anomaly mode
    const NodeNotes& notes = *origin->notes();
    const std::string inputs = notes.nan_input < 0
                                   ? ", no input has NaN"
                                   : as_text(", its input ", notes.nan_input, " has NaN already");
    fail<AutogradError>("backward", "the result has NaN. The first NaN is made by ",
                        describe(*origin), ": element ",
                        unravel_index(notes.nan_element, origin->shape()), " of its result, shape ",
                        origin->shape(), inputs);
  }
}

}  // namespace tend::autograd
