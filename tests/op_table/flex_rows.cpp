// Rows for attention/functions/flex_attention.h, with the ready-made functions of
// attention/expressions, on both paths.
#include "tests/op_table/op_table.h"

#include <tend/attention/expressions/masks.h>
#include <tend/attention/expressions/scores.h>
#include <tend/attention/functions/flex_attention.h>
#include <tend/autograd/graph/naming.h>

namespace tend::test {
namespace {

using namespace attention;
using List = const std::vector<Tensor>&;

// The positions of queries and keys, in Python.
const std::string kQuery = "torch.arange(a.shape[-2])[:, None]";
const std::string kKey = "torch.arange(b.shape[-2])";
const std::string kScaled = "(a @ b.mT / a.shape[-1] ** 0.5)";

std::vector<Sample> flex_samples(const Sample& more = {}) {
  std::vector<Sample> samples = {
      {real({2, 3, 4, 3}), real({2, 3, 5, 3}), real({2, 3, 5, 2})},
      {real({4, 3}), real({5, 3}), real({5, 2})},
      {real({1, 2, 3, 2, 3}), real({2, 1, 3, 3, 3}), real({2, 3, 3, 2})},
  };
  for (Sample& sample : samples) sample.insert(sample.end(), more.begin(), more.end());
  return samples;
}

// Only the first sample, which has three heads.
std::vector<Sample> head_samples(const Sample& more) {
  return {flex_samples(more)[0]};
}

enum class Growth { any_size, fixed_size };

// Adds a row for each path.
template <class MakeOptions>
void flex_row(Rows& rows, const std::string& python, const std::vector<Sample>& samples,
              MakeOptions options, Growth growth = Growth::any_size) {
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const auto call = [path, options](List x) -> Tensor {
      try {
        FlexOptions o = options(x);
        o.path = path;
        return flex_attention(x[0], x[1], x[2], o);
      } catch (const Error&) {
        rename_error("flex_attention");  // errors of the options get this name, too
      }
    };
    // A comment in the Python code makes the two rows different.
    const std::string way = path == AttentionPath::fused ? "  # fused" : "";
    Op& row = rows.op("flex_attention", python + way, call)
                  .within(24)  // exp multiplies the rounding errors of scores by their size
                  .on(samples);
    if (growth == Growth::fixed_size) row.fixed_size();
  }
}

void mask_row(Rows& rows, const std::string& mask, const MaskFunction& function,
              const std::vector<Sample>& samples = flex_samples()) {
  const auto options = [function](List) { return FlexOptions{.mask = function}; };
  // Masks with only one sample may read tables, whose sizes do not grow.
  const Growth growth = samples.size() == 1 ? Growth::fixed_size : Growth::any_size;
  flex_row(rows, "F.scaled_dot_product_attention(a, b, c, (" + mask + "))", samples, options,
           growth);
}

// For masks that leave a query without keys. The Python code spells out softmax, and the zeros of
// such queries.
void empty_mask_row(Rows& rows, const std::string& mask, const MaskFunction& function) {
  const auto options = [function](List) { return FlexOptions{.mask = function}; };
  flex_row(rows,
           "torch.softmax(" + kScaled + ".masked_fill(~(" + mask +
               "), -torch.inf), -1).nan_to_num(0) @ c",
           {{real({3, 4}), real({5, 4}), real({5, 2})}}, options);
}

void mask_function_rows(Rows& rows) {
  const std::string causal = kKey + " <= " + kQuery;
  const std::string distance = "(" + kQuery + " - " + kKey + ")";
  mask_row(rows, causal, masks::causal());
  mask_row(rows, kKey + " <= " + kQuery + " + 1", masks::causal_bottom_right(4, 5));
  mask_row(rows, "(" + causal + ") & (" + distance + " < 2)", masks::sliding_window(2));
  mask_row(rows, "(" + causal + ") | (" + kKey + " < 2)", masks::prefix(2));
  mask_row(rows, kQuery + " // 2 == " + kKey + " // 2", masks::blocks(2), {flex_samples()[2]});
  mask_row(rows, distance + " % 2 == 0", masks::dilated(2));
  mask_row(rows, "(" + causal + ") | (" + kQuery + " // 2 == " + kKey + " // 2)",
           masks::causal() || masks::blocks(2));
  mask_row(rows, "~(" + distance + " % 2 == 0)", !masks::dilated(2));
  mask_row(rows, "(" + causal + ") & ~(" + distance + " % 2 == 1)",
           masks::causal() &&
               !MaskFunction([](const Position& at) { return (at.query - at.key) % 2 == 1; }));
  mask_row(rows, "torch.tensor([[0, 0, 1, 1]]).mT == torch.tensor([0, 0, 1, 1, 1])",
           masks::documents(tensor({0, 0, 1, 1, 1})), {flex_samples()[1]});
  mask_row(rows,
           "torch.tensor([[0, 1, 1, 1], [0, 0, 0, 1]])[:, None, :, None] == "
           "torch.tensor([[0, 1, 1, 1, 1], [0, 0, 0, 1, 1]])[:, None, None, :]",
           masks::documents(tensor({{0, 1, 1, 1, 1}, {0, 0, 0, 1, 1}})), {flex_samples()[0]});
  mask_row(rows, kKey + " < torch.tensor([2, 4])[:, None, None, None]",
           masks::padding(tensor({2, 4})), {flex_samples()[0]});
  mask_row(rows, "(" + causal + ") | (" + kKey + " < torch.tensor([3, 1])[:, None, None, None])",
           masks::prefix(tensor({3, 1})), {flex_samples()[0]});
  empty_mask_row(rows, kKey + " > " + kQuery + " + 2",
                 [](const Position& at) { return at.key > at.query + 2; });
  empty_mask_row(rows, kKey + " + " + kQuery + " < 0",
                 [](const Position& at) { return at.key + at.query < 0; });
}

void score_function_rows(Rows& rows) {
  const std::string biased = "F.scaled_dot_product_attention(a, b, c, ";
  const Input slopes = real({3}).in(0, 1);
  const std::string distance = "(" + kQuery + " - " + kKey + ")";
  flex_row(rows, "F.scaled_dot_product_attention(a, b, c)", flex_samples(),
           [](List) { return FlexOptions{}; });
  flex_row(rows, biased + "-d[:, None, None] * " + distance + ".abs())", head_samples({slopes}),
           [](List x) { return FlexOptions{.score = scores::alibi(x[3])}; });
  flex_row(
      rows, biased + "d[:, " + distance + " + 4])", head_samples({real({3, 9})}),
      [](List x) { return FlexOptions{.score = scores::relative_bias(x[3])}; }, Growth::fixed_size);
  // On each side of the query, the distances 0, 1 and 2 to 4 have one bucket each.
  flex_row(
      rows,
      biased + "d[" + distance + ".abs().clamp(max=2) + 3 * (" + distance +
          " < 0)].movedim(-1, 0))",
      head_samples({real({6, 3})}),
      [](List x) { return FlexOptions{.score = scores::t5_bias(x[3], true, 4)}; },
      Growth::fixed_size);
  // For keys before the query, the distances 0, 1 and 2 to 3 have one bucket each. All keys after
  // the query are in the first bucket.
  flex_row(
      rows, biased + "d[" + distance + ".clamp(0, 2)].movedim(-1, 0))",
      head_samples({real({3, 3})}),
      [](List x) { return FlexOptions{.score = scores::t5_bias(x[3], false, 4)}; },
      Growth::fixed_size);
  flex_row(rows, "torch.softmax(2.5 * torch.tanh(" + kScaled + " / 2.5), -1) @ c", flex_samples(),
           [](List) { return FlexOptions{.score = scores::soft_cap(2.5)}; });
  flex_row(rows,
           "torch.softmax(2.5 * torch.tanh((" + kScaled + " - d[:, None, None] * " + distance +
               ".abs()) / 2.5).masked_fill(" + kKey + " > " + kQuery + ", -torch.inf), -1) @ c",
           head_samples({slopes}), [](List x) {
             return FlexOptions{.score = scores::alibi(x[3]) + scores::soft_cap(2.5),
                                .mask = masks::causal()};
           });
  // Every operation of expressions, and a table that is read at several positions.
  flex_row(rows,
           "torch.softmax(torch.where(" + distance + " % 3 == 1, torch.minimum(" + kScaled +
               ", d[" + kQuery + "]) / 2, torch.maximum(" + kScaled + ".abs(), d[" + kKey +
               "])) + torch.log(1 + torch.exp(-d[" + kKey + "] * d[" + kQuery + "])) - (" +
               distance + " // 2) * 0.25, -1) @ c",
           {{real({4, 3}), real({5, 3}), real({5, 2}), real({5})}}, [](List x) {
             const Lookup table = lookup(x[3]);
             return FlexOptions{.score = [&](const Expr& s, const Position& at) {
               const Expr behind = at.query - at.key;
               const Expr first = min(s, table(at.query)) / 2.0;
               const Expr second = max(abs(s), table(at.key));
               return where(behind % 3 == 1, first, second) +
                      log(1.0 + exp(-(table(at.key) * table(at.query)))) - behind / 2 * 0.25;
             }};
           });
  // The same operations under PyTorch's names.
  flex_row(
      rows,
      "torch.softmax(torch.where(torch.logical_xor(" + kKey + " <= " + kQuery +
          ", torch.remainder(" + distance + ", 3) == 1) & torch.logical_not(torch.isnan(" +
          kScaled + ")), torch.maximum(" + kScaled + ", d[" + kQuery +
          "]).clamp(-0.5, 0.5), torch.minimum(" + kScaled + ", d[" + kKey + "])), -1) @ c",
      {{real({4, 3}), real({5, 3}), real({5, 2}), real({5})}}, [](List x) {
        const Lookup table = lookup(x[3]);
        return FlexOptions{.score = [&](const Expr& s, const Position& at) {
          const Expr odd = logical_xor(at.key <= at.query, remainder(at.query - at.key, 3) == 1);
          return where(logical_and(odd, logical_not(isnan(s))),
                       clamp(maximum(s, table(at.query)), -0.5, 0.5), minimum(s, table(at.key)));
        }};
      });
}

}  // namespace

std::vector<Op> flex_rows() {
  Rows rows;
  mask_function_rows(rows);
  score_function_rows(rows);
  rows.op("flex_attention", "F.scaled_dot_product_attention(a, b, c, enable_gqa=True)",
          [](const Tensor& q, const Tensor& k, const Tensor& v) {
            return flex_attention(q, k, v, {.enable_gqa = true, .path = AttentionPath::fused});
          })
      .within(24)
      .on({{real({2, 4, 3, 3}), real({2, 2, 5, 3}), real({2, 2, 5, 2})}})
      .refuses(
          "[flex_attention] the 3 heads of query (3, 2, 3) are not a multiple of the 2 heads of "
          "key (2, 2, 3) in dimension -3",
          {real({3, 2, 3}), real({2, 2, 3}), real({2, 2, 3})})
      .refuses(
          "[flex_attention] a look-up at (2,) is outside of its table of shape (2,), at "
          "batch 0, head 0, query 0, key 2, which is visible",
          {real({2, 3}), real({3, 3}), real({3, 3})}, [](List x) -> Tensor {
            const Lookup table = lookup(tensor({1, 2}));
            const auto mask = [&](const Position& at) { return table(at.key) >= 0; };
            return flex_attention(x[0], x[1], x[2], {.mask = mask});
          });
  const std::string some = kScaled + "[:, [2, 0]]";
  rows.op("flex_attention_with_heads",
          "(F.scaled_dot_product_attention(a, b, c), torch.softmax(" + some + ", -1), " + some +
              ", torch.logsumexp(" + some + ", -1))",
          [](const Tensor& q, const Tensor& k, const Tensor& v) -> std::vector<Tensor> {
            const HeadDetails found = flex_attention_with_heads(q, k, v, {2, 0});
            return {found.context, found.weights, found.scores, found.log_sum_exp};
          })
      .within(24)
      .on({flex_samples()[0]})
      .fixed_size()
      .refuses("[flex_attention_with_heads] there is no head 2 in weights of shape (2, 3, 3)",
               {real({2, 3, 3}), real({2, 3, 3}), real({2, 3, 3})});
  rows.op("flex_attention_with_weights",
          "(torch.softmax(2.5 * torch.tanh(" + kScaled +
              " / 2.5), -1) @ c, torch.softmax(2.5 * "
              "torch.tanh(" +
              kScaled + " / 2.5), -1))",
          [](const Tensor& q, const Tensor& k, const Tensor& v) -> std::vector<Tensor> {
            auto [context, weights] =
                flex_attention_with_weights(q, k, v, {.score = scores::soft_cap(2.5)});
            return {context, weights};
          })
      .within(24)
      .on(flex_samples())
      .refuses("[flex_attention_with_weights] query (2, 3) and key (3, 2) differ in dimension -1",
               {real({2, 3}), real({3, 2}), real({3, 2})});
  return rows.take();
}

}  // namespace tend::test
