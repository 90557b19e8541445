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

/// `heads` is the number of heads in a batch; leading dimensions are batches, then heads.
PlaceTensors place_tensors(const Shape& scores, std::int64_t heads);

/// The results of a function, which broadcast to the shape of the scores; and where a look-up
/// missed its table, or an index was divided by 0 (undefined: nowhere), with what that was where
/// there is one place.
struct ComposedResult {
  std::vector<Tensor> results;
  Tensor faults;
  std::string fault;
};

/// Real numbers have the dtype of `score`, which is undefined for masks.
ComposedResult evaluate(const TracedFunction& function, const PlaceTensors& places,
                        const Tensor& score, DType dtype);

}  // namespace tend::attention
