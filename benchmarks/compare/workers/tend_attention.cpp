// The rows about attention whose keys are partly hidden, in tend.

#include <functional>
#include <utility>
#include <vector>

#include "../attention_work.h"
#include "tend.h"

#include "same_works.h"

namespace compare {

using tend::Array;

namespace {

namespace masks = tend::attention::masks;

Tensor lengths_of(const AttentionWork& w) {
  return Tensor(Array::from<std::int64_t>(sequence_lengths(w), {w.batch}));
}

/// The number of each token's document.
Tensor documents_of(const AttentionWork& w) {
  std::vector<std::int64_t> numbers;
  const std::vector<std::int64_t> bounds = document_bounds(w);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
    numbers.resize(static_cast<std::size_t>(bounds[i + 1]), static_cast<std::int64_t>(i));
  return Tensor(Array::from<std::int64_t>(numbers, {w.keys}));
}

using Attend = std::function<Tensor(const HeadInputs&)>;

Attend flexible(tend::attention::FlexOptions options) {
  return [options = std::move(options)](const HeadInputs& x) {
    return flex_attention(x.query, x.key, x.value, options);
  };
}

/// The call as a user writes it.
Attend attend_of(const AttentionWork& w) {
  if (w.kind == "attend_window") return flexible({.mask = masks::sliding_window(w.parameter)});
  if (w.kind == "attend_documents")
    return flexible({.mask = masks::causal() && masks::documents(documents_of(w))});
  if (w.kind == "attend_alibi") {
    return flexible(
        {.score = tend::attention::scores::alibi(tend::attention::scores::alibi_slopes(w.heads)),
         .mask = masks::causal()});
  }
  if (w.kind == "attend_padded") return flexible({.mask = masks::padding(lengths_of(w))});
  if (w.kind == "attend_padded_causal")
    return flexible({.mask = masks::causal() && masks::padding(lengths_of(w))});
  return [is_causal = w.kind == "attend_grouped",
          enable_gqa = w.heads != w.kv_heads](const HeadInputs& x) {
    return scaled_dot_product_attention(x.query, x.key, x.value,
                                        {.is_causal = is_causal, .enable_gqa = enable_gqa});
  };
}

/// 1 for the queries that are tokens, 0 for those that are padding: nobody reads these.
Tensor token_queries(const AttentionWork& w) {
  std::vector<float> values;
  for (std::int64_t length : sequence_lengths(w)) {
    for (std::int64_t i = 0; i < w.queries; ++i) values.push_back(i < length ? 1.0F : 0.0F);
  }
  return Tensor(Array::from<float>(values, {w.batch, 1, w.queries, 1}));
}

}  // namespace

Task masked_attention(const Work& work, std::uint64_t seed) {
  const AttentionWork w = attention_work(work);
  const HeadInputs inputs = random_inputs(w, seed);
  const Attend attend = attend_of(w);
  const Tensor read = w.is_padded() ? token_queries(w) : Tensor();
  const auto as_read = [read](const Tensor& x) { return read.defined() ? x * read : x; };
  if (!w.both) {
    Task task = forward_task([=] { return attend(inputs); });
    task.result = [=](Result& result) {
      const InferenceGuard guard;
      add_tensor(result, as_read(attend(inputs)));
    };
    return task;
  }
  const std::vector<Tensor> leaves{inputs.query, inputs.key, inputs.value};
  for (Tensor leaf : leaves) leaf.requires_grad_();
  const Tensor cotangent = as_read(random_heads(seed + 3, w.batch, w.heads, w.queries, w.width));
  const auto both = [=] {
    Tensor context = attend(inputs);
    std::vector<Tensor> gradients = tend::autograd::grad({context}, leaves, {cotangent});
    return std::make_pair(std::move(context), std::move(gradients));
  };
  return make_task(both, [=](Result& result) {
    const auto [context, gradients] = both();
    add_tensor(result, as_read(context));
    for (const Tensor& gradient : gradients) add_tensor(result, gradient);
  });
}

}  // namespace compare
