#include "cases.h"

#include <limits>
#include <memory>
#include <utility>

using namespace tend;

namespace {

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kTokens = 4;
constexpr std::int64_t kWidth = 3;
constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kOut = 4;
constexpr double kDropout = 0.4;

// Makes every evaluation use the same dropout mask, and restores the caller's generator.
template <class F>
auto with_fixed_dropout(F f) {
  return [f = std::move(f)] {
    const Generator before = get_rng_state();
    manual_seed(7);
    Tensor out = f();
    set_rng_state(before);
    return out;
  };
}

Tensor leaf(const Shape& shape) {
  return randn(shape, float64).requires_grad_();
}

template <class M>
Case module_case(const std::string& name, M module, const Shape& input) {
  const auto shared = std::make_shared<M>(std::move(module));
  shared->to(float64);
  const Tensor x = leaf(input);
  Case out{name, with_fixed_dropout([shared, x] { return (*shared)(x); }), {x}, {"x"}};
  for (const auto& [path, parameter] : shared->named_parameters()) {
    out.inputs.push_back(parameter);
    out.names.push_back(path);
  }
  return out;
}

// The name of a variant, such as "CausalAttention, bias, dropout".
std::string variant(const char* name, bool biased, double dropout) {
  std::string text = name;
  text += biased ? ", bias" : ", no bias";
  return dropout > 0 ? text + ", dropout" : text;
}

void add_function_cases(std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, const attention::AttentionOptions& options) {
    const Tensor q = leaf({kBatch, kHeads, kTokens, kWidth});
    const Tensor k = leaf({kBatch, kHeads, kTokens + 1, kWidth});
    const Tensor v = leaf({kBatch, kHeads, kTokens + 1, kOut});
    cases.push_back({"scaled_dot_product_attention, " + name,
                     with_fixed_dropout(
                         [=] { return attention::scaled_dot_product_attention(q, k, v, options); }),
                     {q, k, v},
                     {"query", "key", "value"}});
  };
  const Tensor visible = rand({kTokens, kTokens + 1}) < 0.6;
  visible[1] = false;  // a query that may attend to nothing
  const Tensor added = masked_fill(randn({kTokens, kTokens + 1}, float64), logical_not(visible),
                                   -std::numeric_limits<double>::infinity());
  add("no mask", {});
  add("causal", {.is_causal = true});
  add("bool mask", {.attn_mask = visible});
  add("added mask", {.attn_mask = added});
  add("causal and bool mask", {.attn_mask = visible, .is_causal = true});
  add("dropout", {.dropout_p = kDropout});
  add("causal, dropout", {.dropout_p = kDropout, .is_causal = true});

  const Tensor x = leaf({kTokens, kWidth});
  cases.push_back(
      {"simple_attention", [x] { return attention::simple_attention(x).context; }, {x}, {"x"}});
  const Tensor query = leaf({kWidth});
  cases.push_back({"simple_attention, one query",
                   [=] { return attention::simple_attention(query, x).context; },
                   {query, x},
                   {"query", "x"}});
}

}  // namespace

std::vector<Case> attention_cases() {
  std::vector<Case> cases;
  add_function_cases(cases);
  const Shape one{kTokens, kWidth};
  const Shape batch{kBatch, kTokens, kWidth};
  // Modules accept inputs that are shorter than their context. The longer context tests that.
  constexpr std::int64_t kContext = kTokens + 2;
  cases.push_back(
      module_case("SelfAttentionV1, rand", attention::SelfAttentionV1(kWidth, kOut), one));
  cases.push_back(module_case("SelfAttentionV1, randn",
                              attention::SelfAttentionV1(kWidth, kOut, attention::Draw::normal),
                              batch));
  for (const bool biased : {false, true}) {
    cases.push_back(module_case(variant("SelfAttentionV2", biased, 0),
                                attention::SelfAttentionV2(kWidth, kOut, biased), batch));
    for (const double dropout : {0.0, kDropout}) {
      cases.push_back(
          module_case(variant("CausalAttention", biased, dropout),
                      attention::CausalAttention(kWidth, kOut, kContext, dropout, biased), batch));
      cases.push_back(module_case(
          variant("MultiHeadAttentionWrapper", biased, dropout),
          attention::MultiHeadAttentionWrapper(kWidth, kOut / 2, kContext, dropout, kHeads, biased),
          batch));
      cases.push_back(module_case(
          variant("MultiHeadAttention", biased, dropout),
          attention::MultiHeadAttention(kWidth, kOut, kContext, dropout, kHeads, biased), batch));
    }
  }
  const attention::GPTConfig config{.context_length = kContext,
                                    .width = kOut,
                                    .num_heads = kHeads,
                                    .num_layers = 1,
                                    .dropout = kDropout};
  cases.push_back(module_case("TransformerBlock, dropout", attention::TransformerBlock(config),
                              {1, kTokens, kOut}));
  return cases;
}
