#include <tend/attention/functions/composed.h>

#include <tend/attention/expressions/composed_program.h>
#include <tend/attention/functions/mask.h>
#include <tend/attention/functions/masked_softmax.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::attention {
namespace {

// Groups the heads of the query that share a head of key: (..., heads, T, D) -> (..., heads /
// group, group, T, D).
Tensor grouped(const Tensor& x, std::int64_t group) {
  return group == 1 ? x : unflatten(x, -3, {-1, group});
}
Tensor sharing(const Tensor& x, std::int64_t group) {
  return group == 1 ? x : x.unsqueeze(-3);
}
Tensor ungrouped(const Tensor& x, std::int64_t group) {
  return group == 1 ? x : flatten(x, -4, -3);
}

// The mask and the causal rule together, as a mask for masked_softmax. Undefined if there is
// neither.
Tensor joined_mask(const AttentionCall& call, const Tensor& scores) {
  Tensor mask = call.mask;
  if (mask.defined() && mask.dtype() != boolean) mask = mask.to(scores.dtype());
  if (call.is_causal) {
    const Tensor seen = tril(ones({scores.size(-2), scores.size(-1)}, boolean), call.query_offset);
    if (!mask.defined()) {
      mask = seen;
    } else if (mask.dtype() == boolean) {
      mask = logical_and(mask, seen);
    } else {
      mask = masked_fill(mask, logical_not(seen), detail::kHidden);
    }
  }
  return mask;
}

struct FunctionResult {
  Tensor scores;
  Tensor visible;          // undefined: visible everywhere
  Tensor faults;           // visible positions with a bad look-up or division by 0, or undefined
  std::string fault_text;  // set if the functions were evaluated at a single position
};

// Applies the functions to the scores. With `shields`, hidden positions have no gradient.
FunctionResult apply_functions(const AttentionCall& call, const PlaceTensors& places,
                               const Tensor& scores, bool shields = true) {
  FunctionResult made{scores, {}, {}, {}};
  const auto note = [&made](const ComposedResult& result) {
    if (!result.faults.defined()) return;
    made.faults = made.faults.defined() ? logical_or(made.faults, result.faults) : result.faults;
    made.fault_text = result.fault_text;
  };
  if (call.mask_function) {
    const ComposedResult result = evaluate(*call.mask_function, places, {}, scores.dtype());
    made.visible = result.results[0];
    note(result);
  }
  if (call.score_function) {
    const ComposedResult result = evaluate(*call.score_function, places, scores, scores.dtype(),
                                           shields ? made.visible : Tensor());
    made.scores = result.results[0].expand(scores.shape());
    note(result);
  }
  if (made.faults.defined() && made.visible.defined()) {
    made.faults = logical_and(made.faults, made.visible);
  }
  return made;
}

// The visible positions. A score of -inf from the score function counts as hidden.
Tensor visible_places(const FunctionResult& made) {
  const Tensor visible = made.scores.detach() != detail::kHidden;
  return made.visible.defined() ? logical_and(visible, made.visible) : visible;
}

void check_faults(const AttentionCall& call, const FunctionResult& made, const Tensor& scores) {
  if (!made.faults.defined()) return;
  const Tensor places = nonzero(made.faults.expand(scores.shape()).reshape({scores.numel()}));
  if (places.size(0) == 0) return;
  const std::int64_t first = places.select(0, 0).item<std::int64_t>();
  fail_at_fault(call, scores.reshape({scores.numel()}).select(0, first), first);
}

// The weights before dropout, after score and mask function.
Tensor softmax_of_functions(const AttentionCall& call, const Tensor& scores) {
  const FunctionResult made = apply_functions(call, place_tensors(scores.shape()), scores);
  check_faults(call, made, scores);
  return masked_softmax(made.scores, visible_places(made));
}

// The dropout mask of these heads: bool (..., heads, queries, keys), false where a weight is
// dropped.
Tensor kept_in_heads(const AttentionCall& call, const std::vector<std::int64_t>& heads,
                     const Array& kept) {
  Shape shape = call.weights;
  const std::int64_t rank = shape.rank(), all = shape[rank - 3];
  const std::int64_t matrix = shape[rank - 2] * shape[rank - 1];
  shape[rank - 3] = std::ssize(heads);
  const Array bools = Array::empty(shape, boolean);
  bool* to = bools.data<bool>();
  const auto* words = static_cast<const std::uint64_t*>(kept.raw());
  for (std::int64_t batch = 0; batch < element_count(call.weights) / (all * matrix); ++batch) {
    for (const std::int64_t head : heads) {
      const std::int64_t first = (batch * all + head) * matrix;
      for (std::int64_t i = first; i < first + matrix; ++i)
        *to++ = (words[i / 64] >> i % 64 & 1) != 0;
    }
  }
  return Tensor(bools);
}

}  // namespace

WeightPlace weight_place(const Shape& weights, std::int64_t position) {
  const std::int64_t keys = weights[weights.rank() - 1], queries = weights[weights.rank() - 2];
  return {position / keys / queries, position / keys % queries, position % keys};
}

void fail_at_fault(const AttentionCall& call, const Tensor& score, std::int64_t position) {
  const auto [head, query, key] = weight_place(call.weights, position);
  const std::int64_t heads = heads_of(call.weights);
  const auto number = [](std::int64_t n) { return full({}, n, {.dtype = int64}); };
  const PlaceTensors place = {number(head / heads), number(head % heads), number(query),
                              number(key)};
  const FunctionResult made = apply_functions(call, place, score.detach());
  // The scores here may be rounded differently, so the error may not occur again.
  const std::string what = made.fault_text.empty()
                               ? "a look-up outside of its table, or a division by 0,"
                               : made.fault_text;
  fail<IndexError>(call.operation, what, " at batch ", head / heads, ", head ", head % heads,
                   ", query ", query, ", key ", key, ", which is visible");
}

namespace {

// The scaled scores of some heads before any function, and their positions.
struct HeadProducts {
  Tensor products;
  PlaceTensors places;
};

Tensor pick(const Tensor& x, const Tensor& heads) {
  return heads.defined() ? index_select(x, -3, heads) : x;
}

// An undefined `heads` means all heads.
HeadProducts products_of(const AttentionCall& call, const Tensor& query, const Tensor& key,
                         const Tensor& heads) {
  const auto of_heads = [](const Tensor& x, const Shape& leading, const Tensor& numbers) {
    return pick(x.expand(with_matrix(leading, x.size(-2), x.size(-1))), numbers);
  };
  const std::int64_t shared = call.heads_per_key_head;
  const bool picks = heads.defined() || shared > 1;
  const Tensor numbers = picks && !heads.defined() ? arange(heads_of(call.weights)) : heads;
  const Tensor q = of_heads(query, query_leading(call), numbers);
  const Tensor k =
      of_heads(key, key_leading(call), picks ? floor_divide(numbers, shared) : Tensor());
  PlaceTensors places = place_tensors(call.weights);
  places.batch = pick(places.batch, heads);
  places.head = pick(places.head, heads);
  return {matmul(q, k.transpose(-2, -1)) * call.scale, places};
}

}  // namespace

HeadParts compute_heads(const AttentionCall& call, const Tensor& query, const Tensor& key,
                        const std::vector<std::int64_t>& heads, const Array& kept) {
  const auto [products, places] = products_of(call, query, key, tensor(heads));
  const FunctionResult made = apply_functions(call, places, products);
  const Tensor visible = visible_places(made);
  const Tensor weights = with_dropout(call, masked_softmax(made.scores, visible), heads, kept);
  // The returned scores need gradients at hidden positions too, so they are computed again without
  // `shields`.
  const bool shields = made.visible.defined() && made.scores.requires_grad();
  return {weights, shields ? apply_functions(call, places, products, false).scores : made.scores,
          logsumexp(masked_fill(made.scores, logical_not(visible), detail::kHidden), {-1})};
}

Tensor visible_scores(const AttentionCall& call, const Tensor& query, const Tensor& key,
                      const std::vector<std::int64_t>& heads) {
  const Tensor numbers = heads.empty() ? Tensor() : tensor(heads);
  const auto [products, places] = products_of(call, query, key, numbers);
  if (call.has_functions()) {
    const FunctionResult made = apply_functions(call, places, products);
    return masked_fill(made.scores, logical_not(visible_places(made)), detail::kHidden);
  }
  Tensor mask = joined_mask(call, products);
  if (!mask.defined()) return products;
  if (numbers.defined()) mask = pick(mask.expand(call.weights), numbers);
  if (mask.dtype() != boolean) return products + mask;
  return masked_fill(products, logical_not(mask), detail::kHidden);
}

Tensor with_dropout(const AttentionCall& call, const Tensor& weights,
                    const std::vector<std::int64_t>& heads, const Array& kept) {
  if (call.dropout_p == 1) return weights * 0;
  if (!kept.defined()) return weights;
  const double factor = kept_factor(weights.dtype(), call.dropout_p);
  if (heads.empty()) return mul_kept(weights, kept, factor);
  return weights * kept_in_heads(call, heads, kept).to(weights.dtype()) * factor;
}

AttentionOutput composed_attention(const AttentionCall& call, const Tensor& query,
                                   const Tensor& key, const Tensor& value, const Array& kept) {
  const std::int64_t shared = call.heads_per_key_head;
  const Tensor products =
      matmul(grouped(query, shared), sharing(key, shared).transpose(-2, -1)) * call.scale;
  const Tensor scores = ungrouped(products, shared);
  const Tensor all = call.has_functions() ? softmax_of_functions(call, scores)
                                          : masked_softmax(scores, joined_mask(call, scores));
  const Tensor weights = kept.defined()
                             ? mul_kept(all, kept, kept_factor(all.dtype(), call.dropout_p))
                             : dropout(all, call.dropout_p, /*training=*/true);
  return {ungrouped(matmul(grouped(weights, shared), sharing(value, shared)), shared), weights};
}

}  // namespace tend::attention
