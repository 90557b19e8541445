// The rows about masked attention, in tend.

#include <utility>
#include <vector>

#include "../attention_work.h"
#include "tend.h"

#include "same_works.h"

namespace compare {

namespace {

namespace masks = tend::attention::masks;

Tensor lengths_of(const AttentionWork& w) {
  return make_tensor(sequence_lengths(w), {w.batch});
}

/// The number of each token's document.
Tensor documents_of(const AttentionWork& w) {
  std::vector<std::int64_t> numbers;
  const std::vector<std::int64_t> bounds = document_bounds(w);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
    numbers.resize(static_cast<std::size_t>(bounds[i + 1]), static_cast<std::int64_t>(i));
  return make_tensor(numbers, {w.keys});
}

Attend flexible(tend::attention::FlexOptions options) {
  return [options = std::move(options)](const HeadInputs& x) {
    return flex_attention(x.query, x.key, x.value, options);
  };
}

/// The attention call, written as a user would write it.
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

}  // namespace

Task masked_attention(const Work& work, std::uint64_t seed) {
  const AttentionWork w = attention_work(work);
  return attention_task(w, seed, random_inputs(w, seed), attend_of(w));
}

}  // namespace compare
