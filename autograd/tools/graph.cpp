#include <tend/autograd/tools/graph.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include <tend/autograd/graph/node.h>
#include <tend/core/base/error.h>

namespace tend::autograd {
namespace {

// Returns the nodes in the graph of `outputs`, latest first.
std::vector<Ref<Node>> nodes_behind(const std::vector<Tensor>& outputs) {
  std::vector<Ref<Node>> nodes;
  std::set<const Node*> seen;
  const auto reach = [&](const Edge& edge) {
    if (edge.node && seen.insert(edge.node.get()).second) nodes.push_back(edge.node);
  };
  for (const Tensor& output : outputs) reach(gradient_edge(output));
  for (std::size_t i = 0; i < nodes.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
    const Ref<Node> node = nodes[i];
    for (const Edge& edge : node->edges()) reach(edge);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const Ref<Node>& a, const Ref<Node>& b) { return a->sequence() > b->sequence(); });
  return nodes;
}

// The graph, with a number for each node and a text for each leaf.
class Drawing {
 public:
  Drawing(const std::vector<Tensor>& outputs, const LeafNames& names)
      : nodes(nodes_behind(outputs)) {
    for (std::size_t i = 0; i < nodes.size(); ++i) number_[nodes[i].get()] = nodes.size() - 1 - i;
    for (const auto& [name, tensor] : names) {
      if (tensor.defined() && tensor.impl()->slot) names_[tensor.impl()->slot.get()] = name;
    }
  }

  std::size_t number(const Node& node) const { return number_.at(&node); }

  // Returns a text such as "weight (2, 3)".
  std::string leaf(GradientSlot& slot) const {
    const auto name = names_.find(&slot);
    std::string text = name == names_.end() ? "leaf" : name->second;
    const std::lock_guard lock(slot.mutex);
    if (const TensorImpl* owner = slot.owner) text += as_text(' ', owner->array.shape());
    return text;
  }

  std::vector<Ref<Node>> nodes;

 private:
  std::unordered_map<const Node*, std::size_t> number_;
  std::map<const GradientSlot*, std::string> names_;
};

std::string result_text(const Node& node) {
  return as_text(dtype_name(node.dtype()), ' ', node.shape());
}

std::int64_t saved_bytes(const Node& node) {
  std::int64_t bytes = 0;
  for (const SavedTensor& saved : node.saved()) {
    const Array& array = saved.array();
    if (array.defined()) bytes += array.numel() * item_size(array.dtype());
  }
  return bytes;
}

// Returns `text` in double quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string text_of(const Drawing& drawing) {
  std::string text;
  for (const Ref<Node>& node : drawing.nodes) {
    text += as_text('%', drawing.number(*node), ' ', node->operation(), ' ', result_text(*node),
                    " <- ");
    const char* separator = "";
    for (const Edge& edge : node->edges()) {
      text += separator;
      separator = ", ";
      text += edge.node   ? as_text('%', drawing.number(*edge.node))
              : edge.leaf ? drawing.leaf(*edge.leaf)
                          : "-";
    }
    if (const std::int64_t bytes = saved_bytes(*node)) text += as_text("; saves ", bytes, " B");
    text += '\n';
  }
  return text;
}

std::string dot_of(const Drawing& drawing) {
  std::string nodes, edges;
  std::map<const GradientSlot*, std::string> leaves;
  for (const Ref<Node>& node : drawing.nodes) {
    const std::string id = as_text('n', drawing.number(*node));
    nodes += as_text("  ", id, " [shape=box, label=",
                     quoted(as_text(node->operation(), '\n', result_text(*node))), "];\n");
    for (const Edge& edge : node->edges()) {
      if (edge.node) edges += as_text("  n", drawing.number(*edge.node), " -> ", id, ";\n");
      if (!edge.leaf) continue;
      const auto [leaf, is_new] = leaves.emplace(edge.leaf.get(), as_text("leaf", leaves.size()));
      if (is_new) {
        nodes += as_text("  ", leaf->second,
                         " [shape=ellipse, label=", quoted(drawing.leaf(*edge.leaf)), "];\n");
      }
      edges += as_text("  ", leaf->second, " -> ", id, ";\n");
    }
  }
  return as_text("digraph tend {\n", nodes, edges, "}\n");
}

}  // namespace

std::set<std::string> node_names(const std::vector<Tensor>& outputs) {
  std::set<std::string> names;
  for (const Ref<Node>& node : nodes_behind(outputs)) names.insert(node->grad_fn());
  return names;
}

std::string graph_text(const std::vector<Tensor>& outputs, const LeafNames& names) {
  return text_of(Drawing(outputs, names));
}

std::string graph_dot(const std::vector<Tensor>& outputs, const LeafNames& names) {
  return dot_of(Drawing(outputs, names));
}

}  // namespace tend::autograd
