// Attention that is computed in tiles, so that the whole matrix of weights is never stored: Dao et
// al. 2022, FlashAttention,
// https://arxiv.org/abs/2205.14135.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>
#include <tend/core/kernels/attention/tile_program.h>

namespace tend::kernels {

/// Functions of a score and its position (batch, head, query, key). If `score` is null, the scores
/// are not changed. If `mask` is null, no score is hidden.
struct AttentionFunctions {
  const TileProgram* score = nullptr;  // computes the new score from the scaled score
  const TileProgram* mask = nullptr;   // its result is true where a query may attend
};

/// The settings with which attention turns query @ key^T into weights.
///
/// Masks are expanded to the shape of the weights, (..., T, S), and may have any strides.
struct AttentionRule {
  double scale = 1;
  bool is_causal = false;     // query i sees keys 0 to position + i
  std::int64_t position = 0;  // the position of query 0 among the keys; 0 in the backward
  Array mask = {};            // bool (true: may attend), floating (added), or undefined
  Array kept = {};            // undefined, or the dropout mask of all weights (draw_keep_bits)
  double keep_factor = 1;     // the factor by which dropout multiplies the kept weights
  std::int64_t heads_per_key_head = 1;  // heads of the query for each head of key and value
  AttentionFunctions functions = {};    // used instead of is_causal and mask
};

/// out = dropout(softmax(scale * query @ key^T, masked)) @ value.
///
/// query is (..., T, D), key (..., S, D), value (..., S, V) and out (..., T, V). All have one
/// floating dtype and any strides. Their leading dimensions are equal, except for the heads
/// (dimension -3): query and out have rule.heads_per_key_head times as many heads as key and value.
/// out has the stride 1 in its last dimension.
///
/// log_sums (..., 2, T) is contiguous. It receives the largest score of each query, and the
/// logarithm of the sum of e^(score - largest). The two are stored separately, because their sum
/// would round the logarithm away for scores such as -1e9. If a query may attend to nothing, the
/// stored largest score is +infinity, and `out` is 0.
///
/// Keys that causality hides are skipped, and so are tiles that rule.functions.mask hides. Nothing
/// is skipped if a value is NaN or infinite, because its product with a zero weight is NaN.
///
/// Returns -1, or the row-major position of the first visible weight at which a function reads
/// outside of its table or divides an index by 0. The contents of `out` are then unspecified.
std::int64_t attention(const Array& out, const Array& log_sums, const Array& query,
                       const Array& key, const Array& value, const AttentionRule& rule);

}  // namespace tend::kernels
