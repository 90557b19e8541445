// Stretches of the road that several notebooks walk.
#pragma once

#include <limits>
#include <string>

#include "walk.h"

namespace chapter3 {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// "Your journey starts with one step", six words as 3-d vectors.
tend::Tensor six_words();

/// Which of the optional steps of the first section a notebook takes.
struct OneQuery {
  bool naive_softmax = false;
  bool totals_as_numbers = false;  // shows totals with .item()
};

/// Scores of the second word against all, by loop; both normalisations; the context vector, by
/// loop.
void walk_one_query(Walk& walk, const std::string& seed, const OneQuery& options);

/// All pairs by two loops, as the notebooks do before the product.
tend::Tensor scores_by_loops(const tend::Tensor& inputs);
/// The weighted sum of the rows, row by row.
tend::Tensor context_by_loop(const tend::Tensor& weights, const tend::Tensor& inputs);
tend::Tensor scores_by_loop(const tend::Tensor& query, const tend::Tensor& inputs);

/// Plain (d_in, d_out) projections for one query: from query_2 to context_2.
struct Projections {
  tend::Tensor query, key, value;
};
/// The weights of a module, under "<seed>-<prefix>-w-query" and so on.
void show_weights(Walk& walk, const std::string& prefix, const Projections& weights);

/// Attention weights of `v2` over the six words, the two causal masks, and their softmax. Returns
/// the causal weights.
struct CausalRoad {
  tend::Tensor weights;         // before masking
  tend::Tensor causal_weights;  // after
};
enum class FutureMask { tril_is_zero, triu };
CausalRoad walk_causal(Walk& walk, const std::string& seed, const std::string& suffix,
                       const tend::attention::SelfAttentionV2& v2, FutureMask mask);

/// (1, 2, 3, 4): the worked example of batched products.
tend::Tensor two_heads();

}  // namespace chapter3
