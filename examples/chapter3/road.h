// Steps that several notebooks have in common.
#pragma once

#include <limits>
#include <string>

#include "walk.h"

namespace chapter3 {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// The six words "Your journey starts with one step", as vectors of width 3: (6, 3).
tend::Tensor six_words();

/// The optional steps of walk_one_query().
struct OneQuery {
  bool naive_softmax = false;
  bool totals_as_numbers = false;  // shows sums as numbers, by .item()
};

/// The first section of a notebook, for the second word as the query. It shows scores that a loop
/// computes, weights of two normalisations, and a context vector that a loop computes.
void walk_one_query(Walk& walk, const std::string& seed, const OneQuery& options);

/// The dot products of all pairs of rows, computed by two loops. The notebooks do this before they
/// use matmul.
tend::Tensor scores_by_loops(const tend::Tensor& inputs);
/// The weighted sum of the rows, computed by a loop.
tend::Tensor context_by_loop(const tend::Tensor& weights, const tend::Tensor& inputs);
/// The dot product of each row with the query, computed by a loop.
tend::Tensor scores_by_loop(const tend::Tensor& query, const tend::Tensor& inputs);

/// The query, key and value weights of a module.
struct Projections {
  tend::Tensor query, key, value;
};
/// Shows the weights of a module, with the ids "<prefix>-w-query", "<prefix>-w-key" and
/// "<prefix>-w-value".
void show_weights(Walk& walk, const std::string& prefix, const Projections& weights);

/// The results of walk_causal().
struct CausalRoad {
  tend::Tensor weights;         // before masking
  tend::Tensor causal_weights;  // after masking
};
/// How a notebook finds the scores to mask: where tril(ones) is 0, or where triu(ones, 1) is 1.
enum class FutureMask { tril_is_zero, triu };
/// Shows the attention weights of `v2` over the six words, then causal weights in two ways: masked
/// after the softmax and renormalised, and masked before the softmax.
CausalRoad walk_causal(Walk& walk, const std::string& seed, const std::string& suffix,
                       const tend::attention::SelfAttentionV2& v2, FutureMask mask);

/// The notebooks' example for batched matrix products: (1, 2, 3, 4).
tend::Tensor two_heads();

}  // namespace chapter3
