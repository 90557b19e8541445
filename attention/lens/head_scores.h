/// \file
/// Numbers that describe heads, computed from their patterns and from their weights.
#pragma once

#include <string_view>

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// A score of a pattern p, which is (batch, head, query, key) as in attn.hook_pattern, is one
/// number for each head: (head). The first four scores are between 0 and 1. They are the share of a
/// head's attention that goes to certain keys, averaged over batches and over the queries that have
/// such a key.
///
/// Throws:
///   ShapeError - the pattern does not have four dimensions
///   ShapeError - tokens are not (batch, token) with the sizes of the pattern
///   DTypeError - tokens are not int64

/// Attention to the previous token: the mean of p(i, i - 1) over i > 0.
Tensor previous_token_score(const Tensor& pattern);
/// Attention to the first token: the mean of p(i, 0) over i > 0.
Tensor first_token_score(const Tensor& pattern);
/// Attention to earlier copies of the query's token: the sum of p(i, j) over j < i with token j
/// equal to token i. It is averaged over the queries with such a j, and is 0 if there are no such
/// queries.
Tensor duplicate_token_score(const Tensor& pattern, const Tensor& tokens);
/// Attention to the tokens after earlier copies of the query's token: the sum of p(i, j) over 0 < j
/// <= i with token j - 1 equal to token i. A head that continues a repeated sequence attends there.
/// The score is averaged over the queries with such a j, and is 0 if there are no such queries.
///
/// Olsson et al. 2022,
/// https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads
Tensor induction_score(const Tensor& pattern, const Tensor& tokens);
/// The entropy of attention in nats: the mean over queries of -sum p(i, j) log p(i, j). It is 0 if
/// every query attends to one key only.
Tensor attention_entropy(const Tensor& pattern);

/// How strongly each head reads what heads of earlier layers write.
///
/// For head h of layer l and head k of layer m > l, entry (l, h, m, k) is |A B| / (|A| |B|), where
/// |x| is the Frobenius norm. A is OV(l, h). B is QK(m, k) for kind "Q", its transpose for "K", and
/// OV(m, k) for "V". The result is (layer, head, layer, head). Entries are 0 for m <= l, and if a
/// head's matrix is 0.
///
/// Throws: Error - `kind` is not "Q", "K" or "V"
///
/// Elhage et al. 2021, https://transformer-circuits.pub/2021/framework
Tensor composition_scores(const attention::GPT& model, std::string_view kind);

}  // namespace tend::lens
