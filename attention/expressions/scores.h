/// \file
/// Ready-made score functions, for flex_attention. They are joined with +, from left to right.
#pragma once

#include <tend/attention/expressions/functions.h>

namespace tend::attention::scores {

/// score - slopes[head] * |query - key|, the linear biases of ALiBi. `slopes` is (heads,).
/// ShapeError for another rank, and in flex_attention for another number of heads; DTypeError
/// unless it is floating. Press et al. 2022, https://arxiv.org/abs/2108.12409.
ScoreFunction alibi(const Tensor& slopes);
/// With alibi_slopes(heads).
ScoreFunction alibi(std::int64_t heads);
/// The paper's slopes (heads,), float32: r, r^2, ..., r^n with r = 2^(-8 / n), if n = heads is a
/// power of two; otherwise those of the power of two below, then every other slope of twice that
/// power. ShapeError for fewer than one head.
Tensor alibi_slopes(std::int64_t heads);

/// score + table[head, query - key + length - 1], with a learned `table` (heads, 2 length - 1),
/// floating, for sequences of at most `length` tokens: a longer one is an IndexError in
/// flex_attention, another number of heads a ShapeError. ShapeError for another shape, DTypeError
/// for another dtype. Shaw et al. 2018,
/// https://arxiv.org/abs/1803.02155, with a number for each distance.
ScoreFunction relative_bias(const Tensor& table);

/// score + table[bucket, head], with a learned `table` (buckets, heads), floating. If
/// `bidirectional`, the first half of the rows is for keys up to the query and the second for keys
/// after it; otherwise keys after the query take bucket 0. On each side the first half of the
/// buckets holds one distance each; the others hold ranges that grow logarithmically up to
/// max_distance, and the last also everything beyond. ShapeError for another rank and for fewer
/// than two buckets on a side, DTypeError for another dtype, Error for a max_distance that leaves
/// no ranges, or is above 2^20; ShapeError in flex_attention for another number of heads. Raffel et
/// al. 2020, https://arxiv.org/abs/1910.10683; Hugging Face's T5Attention.
ScoreFunction t5_bias(const Tensor& table, Flag bidirectional, std::int64_t max_distance = 128);

/// cap * tanh(score / cap). Error unless cap is positive and finite. Gemma 2,
/// https://arxiv.org/abs/2408.00118.
ScoreFunction soft_cap(double cap);

}  // namespace tend::attention::scores
