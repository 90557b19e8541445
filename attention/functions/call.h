// A checked call of attention, and the choice of its path. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <tend/attention/expressions/trace.h>
#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

/// The checked arguments of an attention call. Both paths read them.
struct AttentionCall {
  const char* operation;
  const char* grad_fn = nullptr;  // PyTorch's name of the node that the fused path records
  double scale = 1;
  double dropout_p = 0;
  bool is_causal = false;
  std::int64_t query_offset = 0;  // with is_causal: the number of keys before query 0
  Tensor mask = {};               // bool or floating, or undefined
  std::shared_ptr<const TracedFunction> score_function = {}, mask_function = {};  // may be nullptr
  std::int64_t heads_per_key_head = 1;  // heads of the query for each head of key and value
  Shape weights = {};                   // (..., queries, keys)

  bool has_functions() const noexcept { return score_function || mask_function; }
};

/// Returns all dimensions except the last two. The last of the returned dimensions, the number of
/// heads, is multiplied by `heads_per_head`.
Shape batch_shape(const Tensor& matrices, std::int64_t heads_per_head = 1);

/// Checks these arguments and puts them into a call. The caller fills in the other members.
///
/// Throws:
///   ShapeError - query, key and value do not fit together
///   DTypeError - query, key and value do not have one floating dtype
///   Error      - dropout_p is outside [0, 1]
AttentionCall attention_call(const char* operation, const Tensor& query, const Tensor& key,
                             const Tensor& value, double dropout_p,
                             const std::optional<double>& scale, bool enable_gqa);

/// The number of heads, given the shape of the weights; 1 if there is no dimension -3.
inline std::int64_t heads_of(const Shape& weights) {
  return weights.rank() > 2 ? weights[weights.rank() - 3] : 1;
}

/// The leading dimensions of the query, or of key and value, in a call.
Shape query_leading(const AttentionCall& call);
Shape key_leading(const AttentionCall& call);

/// Draws the dropout mask of the weights, in the format of draw_kept. If nothing is dropped or
/// there are no weights, the result is undefined and no random numbers are drawn.
Tensor draw_kept_weights(const AttentionCall& call);

/// Computes the context on the requested path, or on the faster one. `kept` is the dropout mask
/// (draw_kept). If it is undefined, the function draws one.
///
/// Throws: Error - the requested path cannot compute this call
Tensor attend(const AttentionCall& call, AttentionPath path, const Tensor& query, const Tensor& key,
              const Tensor& value, const Tensor& kept = Tensor());

}  // namespace tend::attention
