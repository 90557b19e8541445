// The line search of LBFGS.
#pragma once

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/function_ref.h>

namespace tend::optim::detail {

/// A point on the line: how far along it is, and the loss there.
struct LinePoint {
  double t;
  double loss;
  double slope;  // the derivative of the loss by t
  Tensor gradient;
};

/// The point of a line at which a search ends that begins at `start` and tries `t` first: one that
/// fulfils the strong Wolfe conditions, or the best that 25 points find. The search also ends where
/// the points between which it looks are closer than 1e-9, as torch.optim.LBFGS has it, in the
/// largest coordinate of the direction, `direction_size` a unit of t. Nocedal and Wright, Numerical
/// Optimization, algorithms 3.5 and 3.6, with the safeguards of torch.optim.LBFGS.
LinePoint strong_wolfe(FunctionRef<LinePoint(double)> at, const LinePoint& start, double t,
                       double direction_size);

}  // namespace tend::optim::detail
