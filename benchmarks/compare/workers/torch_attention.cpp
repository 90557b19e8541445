// The rows about masked attention, in libtorch. They use mask tensors, which are made once, or the
// causal rule if that is enough. If there are several ways, the fastest counts.

#include <cmath>
#include <functional>
#include <vector>

#include "../attention_work.h"
#include "torch.h"

#include "same_works.h"

namespace compare {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5)
#define COMPARE_TORCH_HAS_GQA 1
#else
#define COMPARE_TORCH_HAS_GQA 0
#endif

Tensor attend_composed(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& mask) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
  Tensor scores = at::matmul(query * scale, key.transpose(-2, -1));
  if (mask.defined())
    scores = mask.scalar_type() == at::kBool ? scores.masked_fill(~mask, -INFINITY) : scores + mask;
  return at::matmul(at::softmax(scores, -1), value);
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
              bool is_causal) {
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(
      query, key, value, mask.defined() ? c10::make_optional(mask) : c10::nullopt, 0.0, is_causal);
#else
  const Tensor causal =
      is_causal ? at::ones({query.size(-2), key.size(-2)}, at::kBool).tril() : mask;
  return attend_composed(query, key, value, causal);
#endif
}

namespace {

/// A mask of shape (B or 1, 1, T, S): true for the keys that a query may attend to.
Tensor visible(const AttentionWork& w) {
  const std::int64_t batches = w.is_padded() ? w.batch : 1;
  Tensor mask = at::zeros({batches, 1, w.queries, w.keys}, at::kBool);
  bool* const elements = mask.data_ptr<bool>();
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t query = 0; query < w.queries; ++query) {
      const KeyRange range = visible_keys(w, batch, query);
      bool* const row = elements + (batch * w.queries + query) * w.keys;
      std::fill(row + range.first, row + range.end, true);
    }
  }
  return mask;
}

/// A mask that is added to the scores: -inf for hidden keys, and ALiBi's biases.
Tensor added(const AttentionWork& w) {
  Tensor mask = at::zeros({}, at::kFloat);
  if (w.kind == "attend_alibi") {
    const Tensor slopes =
        at::exp2(at::arange(1, w.heads + 1, at::kFloat) * (-8.0 / static_cast<double>(w.heads)));
    const Tensor distances =
        at::arange(w.queries, at::kFloat).unsqueeze(1) - at::arange(w.keys, at::kFloat);
    mask = -slopes.view({w.heads, 1, 1}) * distances.abs();
  }
  return mask.masked_fill(~visible(w), -INFINITY);
}

struct AttendWay {
  std::string name;
  std::function<Attend()> prepare;
};

/// The ways with a mask tensor: attend() with a floating or a bool mask, and attend_composed().
std::vector<AttendWay> ways_with_masks(const AttentionWork& w) {
  const auto with = [](auto make_mask) {
    return [=]() -> Attend {
      return [mask = make_mask()](const HeadInputs& x) {
        return attend(x.query, x.key, x.value, mask, false);
      };
    };
  };
  std::vector<AttendWay> ways{{"float-mask", with([w] { return added(w); })}};
  if (w.kind != "attend_alibi") ways.push_back({"bool-mask", with([w] { return visible(w); })});
  ways.push_back({"composed", [w]() -> Attend {
                    return [mask = added(w)](const HeadInputs& x) {
                      return attend_composed(x.query, x.key, x.value, mask);
                    };
                  }});
  return ways;
}

Tensor attend_causally(const HeadInputs& x) {
  return attend(x.query, x.key, x.value, {}, true);
}

/// The ways to share each key and value head among a group of query heads.
std::vector<AttendWay> ways_of_groups(const AttentionWork& w) {
  const std::int64_t group = w.heads / w.kv_heads;
  std::vector<AttendWay> ways{{"repeated", [group]() -> Attend {
                                 return [group](const HeadInputs& x) {
                                   return attend_causally({x.query,
                                                           x.key.repeat_interleave(group, 1),
                                                           x.value.repeat_interleave(group, 1)});
                                 };
                               }}};
  // For a batch of one, the batch dimension can hold the groups, so nothing is copied.
  if (w.batch == 1) {
    ways.push_back({"groups-as-batches", [w, group]() -> Attend {
                      return [w, group](const HeadInputs& x) {
                        const auto shared = [&](const Tensor& y) {
                          return y.squeeze(0).unsqueeze(1).expand({-1, group, -1, -1});
                        };
                        const Tensor query = x.query.squeeze(0).unflatten(0, {w.kv_heads, group});
                        return attend_causally({query, shared(x.key), shared(x.value)})
                            .flatten(0, 1)
                            .unsqueeze(0);
                      };
                    }});
  }
#if COMPARE_TORCH_HAS_GQA
  ways.push_back({"enable_gqa", []() -> Attend {
                    return [](const HeadInputs& x) {
                      return at::scaled_dot_product_attention(x.query, x.key, x.value, {}, 0.0,
                                                              true, {}, true);
                    };
                  }});
#endif
  return ways;
}

/// Causal attention in each document separately.
Attend attend_each_document(const AttentionWork& w) {
  return [bounds = document_bounds(w)](const HeadInputs& x) {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const auto part = [&](const Tensor& y) {
        return y.narrow(2, bounds[i], bounds[i + 1] - bounds[i]);
      };
      parts.push_back(attend_causally({part(x.query), part(x.key), part(x.value)}));
    }
    return at::cat(parts, 2);
  };
}

/// Attention with a window, in blocks of the window's size. The queries of a block attend to keys
/// of their own block and of the previous one. The batch is one.
///
/// The shape of queries is (T / window, H, window, D). Keys and values have the shape
/// (T / window, H, 2 * window, D).
Attend attend_in_blocks(const AttentionWork& w) {
  const std::int64_t size = w.parameter;
  const std::int64_t blocks = w.queries / size;
  const Tensor distances =
      at::arange(size, at::kLong).unsqueeze(1) + size - at::arange(2 * size, at::kLong);
  Tensor near = at::logical_and(distances.ge(0), distances.lt(size)).repeat({blocks, 1, 1, 1});
  near.select(0, 0).narrow(-1, 0, size).fill_(false);  // there is no block before the first
  const Tensor mask = at::zeros({}, at::kFloat).masked_fill(~near, -INFINITY);
  return [=](const HeadInputs& x) {
    const auto two_blocks = [&](const Tensor& y) {
      return at::constant_pad_nd(y, {0, 0, size, 0})
          .unfold(2, 2 * size, size)
          .squeeze(0)
          .permute({1, 0, 3, 2});
    };
    const Tensor queries = x.query.squeeze(0).unflatten(1, {blocks, size}).transpose(0, 1);
    return attend(queries, two_blocks(x.key), two_blocks(x.value), mask, false)
        .transpose(0, 1)
        .flatten(1, 2)
        .unsqueeze(0);
  };
}

std::vector<AttendWay> attend_ways(const AttentionWork& w) {
  if (w.kind == "attend_grouped") return ways_of_groups(w);
  if (w.kind == "attend_query") {
    return {
        {"fused",
         []() -> Attend {
           return [](const HeadInputs& x) { return attend(x.query, x.key, x.value, {}, false); };
         }},
        {"composed", []() -> Attend {
           return [](const HeadInputs& x) { return attend_composed(x.query, x.key, x.value, {}); };
         }}};
  }
  std::vector<AttendWay> ways = ways_with_masks(w);
  if (w.kind == "attend_documents")
    ways.push_back({"each-by-itself", [w] { return attend_each_document(w); }});
  if (w.kind == "attend_window") ways.push_back({"in-blocks", [w] { return attend_in_blocks(w); }});
  // The causal rule is enough: tokens precede the padding, so they cannot attend to it. The results
  // of padding queries do not matter.
  if (w.kind == "attend_padded_causal")
    ways.push_back({"is_causal", []() -> Attend { return attend_causally; }});
  return ways;
}

}  // namespace

Task masked_attention(const Work& work, std::uint64_t seed) {
  const AttentionWork w = attention_work(work);
  const HeadInputs inputs = random_inputs(w, seed);
  std::vector<Way> ways;
  for (const AttendWay& way : attend_ways(w)) {
    ways.push_back({way.name, [=] { return attention_task(w, seed, inputs, way.prepare()); }});
  }
  return chosen_way(work.way, ways);
}

}  // namespace compare
