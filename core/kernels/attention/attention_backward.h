// The gradients of attention in tiles.
#pragma once

#include <vector>

#include <tend/core/kernels/attention/attention.h>

namespace tend::kernels {

/// Results of attention_backward. They have the shapes of query, key and value, and the stride 1 in
/// the last dimension. Undefined ones are not computed.
struct AttentionGradients {
  Array query, key, value;
  std::vector<Array> tables = {};  // for the tables of rule.functions.score, row-major, float64
};

/// The derivative of a score function, given the gradient of its result (TileOp::grad).
///
/// results[0] of `program` is the gradient of the score. results[i + 1] is the gradient of the
/// number that the node lookups[i] read from its table.
struct ScoreDerivative {
  TileProgram program;
  std::vector<int> lookups = {};  // nodes
};

/// The gradients of query, key, value and tables.
///
/// `grad` is the gradient of `out`. The other arguments are the inputs and results of `attention`,
/// and the derivative of rule.functions.score, if there is such a function.
void attention_backward(const AttentionGradients& gradients, const Array& grad, const Array& out,
                        const Array& log_sums, const Array& query, const Array& key,
                        const Array& value, const AttentionRule& rule,
                        const ScoreDerivative* derivative = nullptr);

}  // namespace tend::kernels
