// Evaluates a score or mask function on tensors, with public operations. The results define what
// the function means, and they have derivatives of any order.
#pragma once

#include <string>

#include <tend/attention/expressions/trace.h>

namespace tend::attention {

/// The positions of scores (..., queries, keys), as int64 tensors that broadcast to the shape of
/// the scores.
struct PlaceTensors {
  Tensor batch, head, query, key;
};

PlaceTensors place_tensors(const Shape& scores);

/// `results` broadcast to the shape of the scores. `faults` is true where a look-up was outside of
/// its table or an index was divided by 0. It is undefined if that did not happen. If the function
/// is evaluated at only one position, `fault_text` describes the error.
struct ComposedResult {
  std::vector<Tensor> results;
  Tensor faults;
  std::string fault_text;
};

/// Returns x and blocks the gradient where `visible` is false. An undefined `visible` blocks
/// nothing.
///
/// Multiplying the gradient by 0 would not be enough: if the function is infinite or NaN, so is its
/// derivative, and 0 times that is NaN.
Tensor shielded(const Tensor& x, const Tensor& visible);

/// Evaluates a function. `dtype` is the dtype of real numbers and of `score`. For masks, `score` is
/// undefined. Positions that are not `visible` contribute no gradient; see shielded().
ComposedResult evaluate(const TracedFunction& function, const PlaceTensors& places,
                        const Tensor& score, DType dtype, const Tensor& visible = {});

}  // namespace tend::attention
