// Attention composed of public operations. Internal: callers have checked the arguments.
#pragma once

#include <vector>

#include <tend/attention/functions/call.h>

namespace tend::attention {

/// The context, and the weights after dropout; gradients of any order are those of the operations.
/// Dropout keeps what `kept` says (draw_kept), or draws that where it is undefined.
AttentionOutput composed_attention(const AttentionCall& call, const Tensor& query,
                                   const Tensor& key, const Tensor& value, const Array& kept = {});

/// What happens in some heads.
struct HeadParts {
  Tensor weights, scores, log_sum_exp;
};
/// Of the heads with these numbers alone, in a call with functions or none. `kept` as above, but
/// what is undefined drops nothing.
HeadParts compute_heads(const AttentionCall& call, const Tensor& query, const Tensor& key,
                        const std::vector<std::int64_t>& heads, const Array& kept);

/// The scores of the heads with these numbers, or of all for none: -inf where a query may not
/// attend. (..., heads, queries, keys)
Tensor visible_scores(const AttentionCall& call, const Tensor& query, const Tensor& key,
                      const std::vector<std::int64_t>& heads);
/// The weights of these heads after dropout, which keeps what `kept` says, or all of a call without
/// dropout.
Tensor with_dropout(const AttentionCall& call, const Tensor& weights,
                    const std::vector<std::int64_t>& heads, const Array& kept);

/// A place among weights (..., queries, keys); heads of all batches are counted together.
struct WeightPlace {
  std::int64_t head, query, key;
};
/// That of a row-major position.
WeightPlace weight_place(const Shape& weights, std::int64_t position);

/// IndexError that says what the functions look up, or divide, at a row-major position of the
/// weights; `score` is the score there.
[[noreturn]] void fail_at_fault(const AttentionCall& call, const Tensor& score,
                                std::int64_t position);

}  // namespace tend::attention
