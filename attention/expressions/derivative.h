// The derivative of a score function, as a separate program.
#pragma once

#include <tend/attention/expressions/trace.h>
#include <tend/core/kernels/attention/attention_backward.h>

namespace tend::attention {

/// The gradients of the score and of the floating tables' look-ups, as functions of the gradient of
/// the result. `function` begins with the nodes of the score function, and has the same tables.
struct TracedDerivative {
  TracedFunction function;   // its results: the gradient of the score, then of each look-up
  std::vector<int> lookups;  // the nodes of the look-ups
};

TracedDerivative differentiate(const TracedFunction& score);

}  // namespace tend::attention
