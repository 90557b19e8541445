// The derivative of a score function, as a program of its own.
#pragma once

#include <tend/attention/expressions/trace.h>
#include <tend/core/kernels/attention/attention_backward.h>

namespace tend::attention {

/// The gradients of the score and of the floating tables' look-ups, given that of the function's
/// result. Its nodes begin with the function's, and its tables are the function's.
struct TracedDerivative {
  TracedFunction function;   // results: the score's gradient, then those of `lookups`
  std::vector<int> lookups;  // nodes
};

TracedDerivative differentiate(const TracedFunction& score);

}  // namespace tend::attention
