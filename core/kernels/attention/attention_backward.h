// The gradients of attention in tiles.
#pragma once

#include <vector>

#include <tend/core/kernels/attention/attention.h>

namespace tend::kernels {

/// Results of attention_backward: of the shapes of query, key and value, with the stride 1 in the
/// last dimension; undefined ones are not computed.
struct AttentionGradients {
  Array query, key, value;
  std::vector<Array> tables = {};  // of rule.functions.score, row-major, float64
};

/// The derivative of a score function, given the gradient of its result (TileOp::grad). results[0]
/// of `program` is the gradient of the score; results[i + 1] is that of the number that the look-up
/// lookups[i] (a node) read.
struct ScoreDerivative {
  TileProgram program;
  std::vector<int> lookups = {};
};

/// The gradients of query, key and value, and of tables, given the gradient `grad` of `out`, and
/// the inputs and results of `attention`; and the derivative of rule.functions.score, if there is
/// that.
void attention_backward(const AttentionGradients& gradients, const Array& grad, const Array& out,
                        const Array& log_sums, const Array& query, const Array& key,
                        const Array& value, const AttentionRule& rule,
                        const ScoreDerivative* derivative = nullptr);

}  // namespace tend::kernels
