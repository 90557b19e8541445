// The line search of LBFGS.
#pragma once

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/function_ref.h>

namespace tend::optim::detail {

/// A point on the line: its distance `t` along the line, and the loss at the point.
struct LinePoint {
  double t;
  double loss;
  double slope;  // the derivative of the loss with respect to t
  Tensor gradient;
};

/// Searches a line from `start`, with `t` as the first step. Returns a point that fulfils the
/// strong Wolfe conditions, or the best of 25 points.
///
/// The search also ends when the interval is shorter than 1e-9 in the largest coordinate of the
/// direction. `direction_size` is the length of that coordinate for a t of 1. Nocedal and Wright,
/// Numerical Optimization, algorithms 3.5 and 3.6, with the safeguards of torch.optim.LBFGS.
LinePoint strong_wolfe(FunctionRef<LinePoint(double)> at, const LinePoint& start, double t,
                       double direction_size);

}  // namespace tend::optim::detail
