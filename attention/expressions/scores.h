/// \file
/// Ready-made score functions for flex_attention. Combine them with +; they are applied from left
/// to right.
#pragma once

#include <tend/attention/expressions/functions.h>

namespace tend::attention::scores {

/// The linear biases of ALiBi: score - slopes[head] * |query - key|. `slopes` is (heads), floating.
///
/// Throws:
///   ShapeError - `slopes` does not have one dimension
///   DTypeError - `slopes` is not floating
///   ShapeError - the number of heads differs (thrown later, by flex_attention)
///
/// Press et al. 2022, https://arxiv.org/abs/2108.12409.
ScoreFunction alibi(const Tensor& slopes);
/// alibi() with alibi_slopes(heads).
ScoreFunction alibi(std::int64_t heads);
/// The slopes of the ALiBi paper: (heads), float32.
///
/// If n = heads is a power of two, they are r, r^2, ..., r^n with r = 2^(-8 / n). Otherwise they
/// are the slopes of the next lower power of two, then every other slope of twice that power.
///
/// Throws: ShapeError - `heads` is below 1
Tensor alibi_slopes(std::int64_t heads);

/// A learned bias for each distance: score + table[head, query - key + length - 1].
///
/// `table` is (heads, 2 length - 1), floating, for sequences of at most `length` tokens.
///
/// Throws:
///   ShapeError - `table` has another shape
///   DTypeError - `table` is not floating
///   ShapeError - the number of heads differs (thrown later, by flex_attention)
///   IndexError - in flex_attention, a sequence is longer than `length`
///
/// Shaw et al. 2018, https://arxiv.org/abs/1803.02155, which has a vector for each distance. Here
/// each distance has a number.
ScoreFunction relative_bias(const Tensor& table);

/// The relative position bias of T5: score + table[bucket, head], where the distance of query and
/// key determines the bucket.
///
/// `table` is (buckets, heads), floating. If `bidirectional`, the first half of the buckets is for
/// keys up to the query, and the second half for keys after it. Otherwise keys after the query use
/// bucket 0. On each side of the query, the first half of the buckets are for one distance each.
/// The others are for ranges of distances that grow logarithmically up to max_distance. The last
/// bucket is also for all greater distances.
///
/// Throws:
///   ShapeError - `table` does not have two dimensions, or a side has fewer than two buckets
///   DTypeError - `table` is not floating
///   Error      - max_distance is at most half the buckets of a side, or above 2^20
///   ShapeError - the number of heads differs (thrown later, by flex_attention)
///
/// Raffel et al. 2020, https://arxiv.org/abs/1910.10683; Hugging Face's T5Attention.
ScoreFunction t5_bias(const Tensor& table, Flag bidirectional, std::int64_t max_distance = 128);

/// Limits scores smoothly to (-cap, cap): cap * tanh(score / cap).
///
/// Throws: Error - cap is not positive and finite
///
/// Gemma 2, https://arxiv.org/abs/2408.00118.
ScoreFunction soft_cap(double cap);

}  // namespace tend::attention::scores
