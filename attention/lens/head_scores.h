/// \file
/// What heads do, as numbers: of their patterns, and of their weights.
#pragma once

#include <string_view>

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// All scores of a pattern p, (batch, head, query, key) as attn.hook_pattern has it, are one number
/// for each head, (head), between 0 and 1: the share of its attention that goes to the keys in
/// question, on the average over batches and those queries that have such a key; 0 where no query
/// has. ShapeError for a pattern of another rank, and tokens that are not (batch, token) of its
/// size; DTypeError for tokens that are not int64.

/// p(i, i - 1) of all i > 0.
Tensor previous_token_score(const Tensor& pattern);
/// p(i, 0) of all i > 0.
Tensor first_token_score(const Tensor& pattern);
/// The sum of p(i, j) over j < i whose token is that of i.
Tensor duplicate_token_score(const Tensor& pattern, const Tensor& tokens);
/// The sum of p(i, j) over 0 < j <= i whose token before, j - 1 < i, is that of i: where a head
/// that continues a repeated sequence attends. Olsson et al. 2022,
/// https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads
Tensor induction_score(const Tensor& pattern, const Tensor& tokens);
/// The average of -sum p(i, j) log p(i, j) over queries, in nats: 0 where one key gets all.
Tensor attention_entropy(const Tensor& pattern);

/// How much of what head h of layer l writes head k of layer m > l reads: |A B| / (|A| |B|) of
/// A = OV(l, h) and B, which is QK for "Q", the transpose of QK for "K", OV for "V"; |x| is
/// Frobenius's norm. (layer, head, layer, head), 0 where m <= l, and where a head's matrix is 0.
/// Error for another kind. Elhage et al. 2021, https://transformer-circuits.pub/2021/framework
Tensor composition_scores(const attention::GPT& model, std::string_view kind);

}  // namespace tend::lens
