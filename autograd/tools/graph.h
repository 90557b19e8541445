// Printing and drawing the graph that is recorded behind tensors.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::autograd {

/// Names for leaves, such as Module::named_parameters gives.
using LeafNames = std::vector<std::pair<std::string, Tensor>>;

/// PyTorch's names of the nodes behind `outputs`: for x.exp().sum() "SumBackward0" and
/// "ExpBackward0".
std::set<std::string> node_names(const std::vector<Tensor>& outputs);

/// The graph behind `outputs`, one line for each node, the latest first: its number, the operation,
/// dtype and shape of its result, what its inputs are, and how many bytes it keeps for backward.
///
///   %2 sum float32 () <- %1
///   %1 mul float32 (2, 3) <- %0, weight (2, 3); saves 48 B
///   %0 exp float32 (2, 3) <- x (2, 3); saves 24 B
///
/// Leaves without a name are "leaf"; "-" is an input without gradient.
std::string graph_text(const std::vector<Tensor>& outputs, const LeafNames& names = {});

/// The same as a drawing for Graphviz: `dot -Tsvg`.
std::string graph_dot(const std::vector<Tensor>& outputs, const LeafNames& names = {});

}  // namespace tend::autograd
