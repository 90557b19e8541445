// Rows for attention/functions/scaled_dot_product.h, masked_softmax.h and rotary.h.
#include "tests/op_table/op_table.h"

#include <tend/attention/functions/masked_softmax.h>
#include <tend/attention/functions/rotary.h>
#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/core/random/random.h>

namespace tend::test {
namespace {

using T = const Tensor&;
using List = const std::vector<Tensor>&;
using attention::AttentionOptions;

// Two queries of 3 numbers each, three keys, and values of 2 numbers each.
std::vector<Sample> attention_samples() {
  return {{real({2, 3}), real({3, 3}), real({3, 2})},
          {real({2, 1, 2, 3}), real({2, 3, 3, 3}), real({2, 3, 3, 2})},
          {real({2, 0, 3}), real({2, 3, 3}), real({2, 3, 2})}};
}

std::vector<Sample> masked_samples(const Input& mask) {
  std::vector<Sample> samples = attention_samples();
  samples.pop_back();
  for (Sample& sample : samples) sample.push_back(mask);
  return samples;
}

Op& attention_row(Rows& rows, const std::string& options, const AttentionOptions& o) {
  return rows.op(
      "scaled_dot_product_attention", "F.scaled_dot_product_attention(a, b, c" + options + ")",
      [o](T q, T k, T v) { return attention::scaled_dot_product_attention(q, k, v, o); });
}

Op& masked_row(Rows& rows, const std::string& mask, TensorFunction call) {
  return rows.op("scaled_dot_product_attention",
                 "F.scaled_dot_product_attention(a, b, c, " + mask + ")", std::move(call));
}

void attention_rows_of(Rows& rows) {
  attention_row(rows, "", {})
      .on(attention_samples())
      .refuses("[scaled_dot_product_attention] query (2, 3) and key (3, 2) differ in dimension -1",
               {real({2, 3}), real({3, 2}), real({3, 2})})
      .refuses("[scaled_dot_product_attention] key (3, 3) and value (2, 2) differ in dimension -2",
               {real({2, 3}), real({3, 3}), real({2, 2})})
      .refuses(
          "[scaled_dot_product_attention] query (3,), key (3,) and value (3,) need two "
          "dimensions or more",
          {real({3}), real({3}), real({3})});
  attention_row(rows, ", is_causal=True", {.is_causal = true}).on(attention_samples());
  attention_row(rows, ", scale=0.5", {.scale = 0.5})
      .within(24)  // exp multiplies the rounding errors of scores by their size
      .on(attention_samples());
  masked_row(rows, "d",
             [](List x) {
               return attention::scaled_dot_product_attention(x[0], x[1], x[2],
                                                              {.attn_mask = x[3]});
             })
      .on(masked_samples(real({2, 3})))
      .on(masked_samples(bools({2, 3})))
      .refuses("[scaled_dot_product_attention] mask (3, 3) does not broadcast to the scores (2, 3)",
               {real({2, 3}), real({3, 3}), real({3, 2}), bools({3, 3})})
      .refuses(
          "[scaled_dot_product_attention] the mask is int64; it must be bool (true: attend) or "
          "floating (added)",
          {real({2, 3}), real({3, 3}), real({3, 2}), integers({2, 3}, 0, 2)});
  // The second query may attend to nothing.
  masked_row(rows, "torch.tensor([[True, False, True], [False, False, False]])",
             [](T q, T k, T v) {
               const Tensor mask = tensor({{true, false, true}, {false, false, false}});
               return attention::scaled_dot_product_attention(q, k, v, {.attn_mask = mask});
             })
      .on({attention_samples()[0]})
      .fixed_size();
}

// Each call draws the same mask, and leaves the default generator as it was.
void dropout_rows(Rows& rows) {
  const auto with_seed = [](T q, T k, T v) {
    const Generator before = get_rng_state();
    manual_seed(3);
    Tensor out = attention::scaled_dot_product_attention(q, k, v, {.dropout_p = 0.4});
    set_rng_state(before);
    return out;
  };
  rows.op("scaled_dot_product_attention",
          "(torch.manual_seed(3), F.scaled_dot_product_attention(a, b, c, dropout_p=0.4))[1]",
          with_seed)
      .on(attention_samples());
}

}  // namespace

// x has rows of 4 or more numbers. The first 4 form two pairs, which are rotated by the angles b
// and b / 10.
void rotary_rows(Rows& rows) {
  const auto row = [&rows](bool interleaved, const std::string& pairs) {
    return rows
        .op("rotary",
            "(lambda x, c, s: torch.cat([" + pairs +
                ", x[..., 4:]], -1))(a, *[f(b.unsqueeze(-1) * torch.tensor([1, 0.1], "
                "dtype=torch.float64)).to(a.dtype) for f in (torch.cos, torch.sin)])",
            [interleaved](T x, T positions) {
              return attention::rotary(x, positions,
                                       {.theta = 100, .dims = 4, .interleaved = interleaved});
            })
        .on({{real({2, 3, 4}), integers({3}, -2, 9)},
             {real({2, 2, 3, 6}), integers({2, 1, 3}, 0, 50)},
             {real({0, 4}), integers({0}, 0, 1)}})
        .refuses(
            "[rotary] positions (2,) do not broadcast to (2, 3), the shape of x (2, 3, 4) without "
            "dimension -1",
            {real({2, 3, 4}), integers({2}, 0, 9)})
        .refuses(
            "[rotary] dims 4 must be an even number from 2 to the size of dimension -1 of (3, 3)",
            {real({3, 3}), integers({3}, 0, 9)})
        .refuses("[rotary] x (4,) needs two dimensions or more", {real({4}), integers({1}, 0, 9)})
        .refuses("[rotary] x is int64, not floating", {integers({3, 4}, 0, 9), integers({3}, 0, 9)})
        .refuses("[rotary] positions are bool, not numbers", {real({3, 4}), bools({3})});
  };
  row(false, "x[..., :2] * c - x[..., 2:4] * s, x[..., 2:4] * c + x[..., :2] * s");
  row(true,
      "torch.stack([x[..., :4:2] * c - x[..., 1:4:2] * s, x[..., 1:4:2] * c + x[..., :4:2] * s], "
      "-1).flatten(-2)");
}

std::vector<Op> attention_rows() {
  Rows rows;
  attention_rows_of(rows);
  dropout_rows(rows);
  for (const auto path : {attention::AttentionPath::composed, attention::AttentionPath::fused}) {
    const bool is_fused = path == attention::AttentionPath::fused;
    attention_row(rows, is_fused ? ", enable_gqa=True, dropout_p=0" : ", enable_gqa=True",
                  {.enable_gqa = true, .path = path})
        .within(24)
        .on({{real({2, 4, 3, 3}), real({2, 2, 5, 3}), real({2, 2, 5, 2})}})
        .refuses(
            "[scaled_dot_product_attention] enable_gqa needs heads in dimension -3 of query (2, "
            "3), "
            "key (2, 3) and value (2, 3)",
            {real({2, 3}), real({2, 3}), real({2, 3})});
  }
  rows.op("attention_with_weights", "torch.ops.aten._scaled_dot_product_attention_math(a, b, c)",
          [](T q, T k, T v) -> std::vector<Tensor> {
            auto [context, weights] = attention::attention_with_weights(q, k, v);
            return {context, weights};
          })
      .on(attention_samples())
      .refuses(
          "[attention_with_weights] query float64, key int64 and value float64 must "
          "have one floating dtype",
          {real({2, 3}), integers({3, 3}, 0, 3), real({3, 2})});
  rows.op("masked_softmax", "torch.softmax(a + b, -1)",
          [](T a, T b) { return attention::masked_softmax(a, b); })
      .on({{real({2, 3}), real({2, 3})}, {real({2, 2, 3}), real({3})}})
      .refuses("[masked_softmax] mask (2,) does not broadcast to the scores (2, 3)",
               {real({2, 3}), real({2})});
  rows.op("masked_softmax", "torch.softmax(a.masked_fill(~b, -torch.inf), -1).nan_to_num(0)",
          [](T a, T b) { return attention::masked_softmax(a, b); })
      .on({{real({3, 2}), bools({3, 2}).constant()}, {real({2, 3, 2}), bools({3, 1})}});
  rotary_rows(rows);
  return rows.take();
}

}  // namespace tend::test
