/// \file
/// Ready-made score functions, for flex_attention. They are joined with +, from left to right.
#pragma once

#include <tend/attention/expressions/functions.h>

namespace tend::attention::scores {

/// score - slopes[head] * |query - key|, the linear biases of ALiBi. `slopes` is floating,
/// (heads,). Press et al. 2022, https://arxiv.org/abs/2108.12409.
ScoreFunction alibi(const Tensor& slopes);
/// The paper's slopes for so many heads, float32: 2^(-8 / n), its square, ...; between powers of
/// two the rest are every other slope of twice as many heads. ShapeError for fewer than one head.
Tensor alibi_slopes(std::int64_t heads);

/// score + table[head, query - key + length - 1], with a learned `table` (heads, 2 length - 1) for
/// sequences of at most `length` tokens: a longer one is an IndexError. Shaw et al. 2018,
/// https://arxiv.org/abs/1803.02155, with a number for each distance.
ScoreFunction relative_bias(const Tensor& table);

/// score + table[bucket(key - query), head], with a learned `table` (buckets, heads). Half of the
/// buckets are for keys behind the query if `bidirectional`. Half of those on a side are for one
/// distance each, the others for ranges that grow up to max_distance and beyond. ShapeError for
/// fewer than two buckets on a side, Error for a max_distance that leaves no ranges, or is above
/// 2^20. Raffel et al. 2020, https://arxiv.org/abs/1910.10683; Hugging Face's T5Attention.
ScoreFunction t5_bias(const Tensor& table, Flag bidirectional, std::int64_t max_distance = 128);

/// cap * tanh(score / cap). Error unless cap is positive. Gemma 2,
/// https://arxiv.org/abs/2408.00118.
ScoreFunction soft_cap(double cap);

}  // namespace tend::attention::scores
