// Attention in tiles, without ever storing all of its weights: Dao et al. 2022, FlashAttention,
// https://arxiv.org/abs/2205.14135.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>
#include <tend/core/kernels/attention/tile_program.h>

namespace tend::kernels {

/// Functions of a score and its place; those that are nullptr leave the scores as they are, and
/// hide nothing.
struct AttentionFunctions {
  const TileProgram* score = nullptr;  // of the scaled score; its result is the score
  const TileProgram* mask = nullptr;   // its result is true where a query may attend
};

/// How the product query @ key^T becomes the weights. Masks are expanded to the shape of the
/// weights, (..., T, S), and may have any strides.
struct AttentionRule {
  double scale = 1;
  bool is_causal = false;     // query i sees keys 0 to position + i
  std::int64_t position = 0;  // of query 0 among the keys; the backward takes 0 only
  Array mask = {};            // bool: true where a query may attend; floating: added; or undefined
  Array kept = {};            // the draw_keep_bits of all weights, see keep_bits_room; or undefined
  double keep_factor = 1;     // what dropout multiplies the kept weights with
  std::int64_t heads_per_key_head = 1;  // heads of the query for each head of key and value
  AttentionFunctions functions = {};    // instead of is_causal and mask
};

/// out = dropout(softmax(scale * query @ key^T, masked)) @ value. log_sums (..., 2, T), contiguous,
/// receives each query's largest score and the logarithm of the sum of e^(score - largest): their
/// sum in one number would lose the second beside scores of -1e9. The first is infinite where a
/// query may attend to nothing, and then `out` is 0. query is (..., T, D), key (..., S, D),
/// value (..., S, V) and out (..., T, V), all of one floating dtype, of any strides and with the
/// same leading dimensions; the last of these is, for query and out, rule.heads_per_key_head times
/// that of key and value. out has the stride 1 in its last dimension. Keys that causality hides,
/// and tiles that rule.functions.mask hides, are skipped, unless values that are not finite turn
/// their zero weights into NaN. Returns the row-major position of the first visible weight at which
/// a function misses its table or divides an index by 0, and then the contents of `out` are
/// unspecified; or -1.
std::int64_t attention(const Array& out, const Array& log_sums, const Array& query,
                       const Array& key, const Array& value, const AttentionRule& rule);

}  // namespace tend::kernels
