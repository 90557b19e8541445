// Attention composed of public operations. Internal: callers have checked the arguments.
#pragma once

#include <vector>

#include <tend/attention/functions/call.h>

namespace tend::attention {

/// Returns the context, and the weights after dropout. The operations define gradients of any
/// order. `kept` is the dropout mask (draw_kept). If it is undefined, the function draws one.
AttentionOutput composed_attention(const AttentionCall& call, const Tensor& query,
                                   const Tensor& key, const Tensor& value, const Array& kept = {});

/// The weights, scores and logsumexp of some heads.
struct HeadParts {
  Tensor weights, scores, log_sum_exp;
};
/// Computes the parts of the heads with these indices. It applies the functions of the call, if
/// there are any, but neither call.mask nor call.is_causal. `kept` is the dropout mask (draw_kept).
/// If it is undefined, nothing is dropped.
HeadParts compute_heads(const AttentionCall& call, const Tensor& query, const Tensor& key,
                        const std::vector<std::int64_t>& heads, const Array& kept);

/// The scores of the heads with these indices, or of all heads if `heads` is empty: (..., heads,
/// queries, keys), with -inf where a query may not attend.
Tensor visible_scores(const AttentionCall& call, const Tensor& query, const Tensor& key,
                      const std::vector<std::int64_t>& heads);
/// The weights of these heads after dropout. `kept` is the dropout mask, undefined if nothing is
/// dropped.
Tensor with_dropout(const AttentionCall& call, const Tensor& weights,
                    const std::vector<std::int64_t>& heads, const Array& kept);

/// A position among the weights (..., queries, keys). `head` is batch * number of heads + head.
struct WeightPlace {
  std::int64_t head, query, key;
};
/// The position of a row-major index of the weights.
WeightPlace weight_place(const Shape& weights, std::int64_t position);

/// Throws an IndexError that describes what went wrong at a row-major index of the weights: a
/// look-up outside of its table, or a division by 0. `score` is the score there.
[[noreturn]] void fail_at_fault(const AttentionCall& call, const Tensor& score,
                                std::int64_t position);

}  // namespace tend::attention
