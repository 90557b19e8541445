// A score or mask function of tensors, in public operations: it defines what the function means,
// and has all derivatives.
#pragma once

#include <string>

#include <tend/attention/expressions/trace.h>

namespace tend::attention {

/// The places of scores (..., queries, keys), as int64 tensors that broadcast to their shape.
struct PlaceTensors {
  Tensor batch, head, query, key;
};

PlaceTensors place_tensors(const Shape& scores);

/// The results, which broadcast to the shape of the scores. `faults` is true where a look-up missed
/// its table or an index was divided by 0, undefined if nowhere; `fault_text` says what happened if
/// there is a single place.
struct ComposedResult {
  std::vector<Tensor> results;
  Tensor faults;
  std::string fault_text;
};

/// x, without a gradient where `visible` is false; undefined: with it everywhere. A gradient of 0
/// does not do: where a function is infinite or NaN, its derivative is, too, and times 0 is NaN.
Tensor shielded(const Tensor& x, const Tensor& visible);

/// `dtype` is that of real numbers. `score` has it, and is undefined for masks. Nothing gets a
/// gradient from places that are not `visible` (shielded).
ComposedResult evaluate(const TracedFunction& function, const PlaceTensors& places,
                        const Tensor& score, DType dtype, const Tensor& visible = {});

}  // namespace tend::attention
