// Prints and draws the graphs that lead to tensors.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::autograd {

/// Names for leaves, in the form in which Module::named_parameters returns them.
using LeafNames = std::vector<std::pair<std::string, Tensor>>;

/// Returns PyTorch's names of the nodes in the graph of `outputs`.
///
/// For x.exp().sum() they are "SumBackward0" and "ExpBackward0".
std::set<std::string> node_names(const std::vector<Tensor>& outputs);

/// Prints the graph of `outputs`, one line for each node, the latest first.
///
/// A line has the node's number, the operation, dtype and shape of its result, its inputs, and the
/// number of bytes that it saves for backward.
///
///   %2 sum float32 () <- %1
///   %1 mul float32 (2, 3) <- %0, weight (2, 3); saves 48 B
///   %0 exp float32 (2, 3) <- x (2, 3); saves 24 B
///
/// Leaves without a name are "leaf". An input without gradient is "-".
std::string graph_text(const std::vector<Tensor>& outputs, const LeafNames& names = {});

/// Draws the same graph for Graphviz: `dot -Tsvg`.
std::string graph_dot(const std::vector<Tensor>& outputs, const LeafNames& names = {});

}  // namespace tend::autograd
