#include <tend/attention/lens/head_scores.h>

#include <vector>

#include <tend/attention/lens/weights.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::lens {
namespace {

void check_pattern(const Tensor& pattern) {
  if (pattern.dim() != 4)
    fail<ShapeError>("lens", "a pattern must be (batch, head, query, key), got ", pattern.shape());
}

void check_tokens(const Tensor& pattern, const Tensor& tokens) {
  check_pattern(pattern);
  if (tokens.dtype() != int64)
    fail<DTypeError>("lens", "tokens are ", tokens.dtype(), ", not int64");
  const bool fits = tokens.dim() == 2 && tokens.size(0) == pattern.size(0) &&
                    tokens.size(1) == pattern.size(2) && tokens.size(1) == pattern.size(3);
  if (!fits)
    fail<ShapeError>("lens", "tokens ", tokens.shape(),
                     " must be (batch, token) with the sizes of the pattern ", pattern.shape());
}

// The attention to keys where `wanted` is true, averaged over the queries that have such a key.
// `wanted` is (batch, query, key) or (query, key).
Tensor share_of(const Tensor& pattern, const Tensor& wanted) {
  const Tensor places = wanted.dim() == 3 ? wanted.unsqueeze(1) : wanted;
  const Tensor per_query = masked_fill(pattern, logical_not(places), 0).sum({-1});
  const Tensor counted = any(places, -1).expand(per_query.shape()).to(pattern.dtype());
  return (per_query * counted).sum({0, 2}) /
         maximum(counted.sum({0, 2}), tensor(1.0, pattern.dtype()));
}

// (batch, query, key): entry (b, i, j + step) is true if tokens i and j are equal and j < i.
Tensor same_token(const Tensor& tokens, std::int64_t step) {
  const std::int64_t length = tokens.size(1);
  const Tensor same = tokens.unsqueeze(2) == tokens.unsqueeze(1);  // (batch, query, key)
  const Tensor before = tril(ones({length, length}, boolean), -1);
  Tensor earlier = logical_and(same, before);
  if (step == 0) return earlier;
  Tensor moved = zeros(earlier.shape(), boolean);
  if (length > 1) moved.narrow(2, 1, length - 1).copy_(earlier.narrow(2, 0, length - 1));
  return moved;
}

Tensor norms(const Tensor& matrices) {
  return sqrt(square(matrices).sum({-2, -1}));
}

}  // namespace

Tensor previous_token_score(const Tensor& pattern) {
  check_pattern(pattern);
  return pattern.diagonal(-1, 2, 3).mean({0, 2});
}

Tensor first_token_score(const Tensor& pattern) {
  check_pattern(pattern);
  return pattern.select(3, 0).narrow(2, 1, pattern.size(2) - 1).mean({0, 2});
}

Tensor duplicate_token_score(const Tensor& pattern, const Tensor& tokens) {
  check_tokens(pattern, tokens);
  return share_of(pattern, same_token(tokens, 0));
}

Tensor induction_score(const Tensor& pattern, const Tensor& tokens) {
  check_tokens(pattern, tokens);
  return share_of(pattern, same_token(tokens, 1));
}

Tensor attention_entropy(const Tensor& pattern) {
  check_pattern(pattern);
  return (-xlogy(pattern, pattern)).sum({-1}).mean({0, 2});
}

Tensor composition_scores(const attention::GPT& model, std::string_view kind) {
  if (kind != "Q" && kind != "K" && kind != "V")
    fail("composition_scores", "kind '", kind, "' is not Q, K or V");
  const NoGradGuard no_graph;
  const std::int64_t layers = std::ssize(model.blocks), heads = model.config.num_heads;
  Tensor scores = zeros({layers, heads, layers, heads}, W_E(model).dtype());
  for (std::int64_t reader = 1; reader < layers; ++reader) {
    Tensor read = kind == "V" ? OV(model, reader) : QK(model, reader);
    if (kind == "K") read = read.transpose(1, 2);
    for (std::int64_t writer = 0; writer < reader; ++writer) {
      const Tensor written = OV(model, writer).unsqueeze(1);  // (head, 1, d_model, d_model)
      const Tensor alone = norms(written) * norms(read);
      const Tensor both = masked_fill(norms(matmul(written, read)) / alone, alone == 0, 0);
      scores.select(2, reader).select(0, writer).copy_(both);
    }
  }
  return scores;
}

}  // namespace tend::lens
