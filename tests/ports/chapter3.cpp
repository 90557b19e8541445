// Ports a notebook on attention: dot products of six words, softmax weights and context vectors,
// trainable weights, self-attention with parameters and with Linear layers, causal masks, dropout,
// and multi-head attention, first as a list of heads and then with split weights.
// Checks the numbers that the notebook prints, to four decimals.
#include <cmath>
#include <limits>

#include "check.h"

using namespace tend;

namespace {

const Tensor inputs = tensor({{0.43, 0.15, 0.89},    // Your
                              {0.55, 0.87, 0.66},    // journey
                              {0.57, 0.85, 0.64},    // starts
                              {0.22, 0.58, 0.33},    // with
                              {0.77, 0.25, 0.10},    // one
                              {0.05, 0.80, 0.55}});  // step

constexpr double inf = std::numeric_limits<double>::infinity();
// The tolerance: half of the last printed digit, plus the rounding of float32.
constexpr double printed = 0.5e-4 + 1e-6;

class SelfAttentionV1 : public nn::Module<SelfAttentionV1> {
 public:
  SelfAttentionV1(int d_in, int d_out)
      : W_query(rand({d_in, d_out})), W_key(rand({d_in, d_out})), W_value(rand({d_in, d_out})) {}

  Tensor forward(const Tensor& x) const {
    const Tensor keys = matmul(x, W_key);
    const Tensor queries = matmul(x, W_query);
    const Tensor values = matmul(x, W_value);
    const Tensor attn_scores = matmul(queries, keys.T());
    const Tensor attn_weights = softmax(attn_scores / std::sqrt(keys.size(-1)), -1);
    return matmul(attn_weights, values);
  }

  TEND_PARAMETER(W_query);
  TEND_PARAMETER(W_key);
  TEND_PARAMETER(W_value);
};

class SelfAttentionV2 : public nn::Module<SelfAttentionV2> {
 public:
  SelfAttentionV2(int d_in, int d_out, bool qkv_bias = false)
      : W_query(d_in, d_out, qkv_bias),
        W_key(d_in, d_out, qkv_bias),
        W_value(d_in, d_out, qkv_bias) {}

  Tensor forward(const Tensor& x) const {
    const Tensor keys = W_key(x);
    const Tensor attn_scores = W_query(x).matmul(keys.T());
    const Tensor attn_weights = softmax(attn_scores / std::pow(keys.shape()[1], 0.5), -1);
    return attn_weights.matmul(W_value(x));
  }

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
};

class CausalAttention : public nn::Module<CausalAttention> {
 public:
  CausalAttention(int d_in, int d_out, int context_length, double p, bool qkv_bias = false)
      : W_query(d_in, d_out, qkv_bias),
        W_key(d_in, d_out, qkv_bias),
        W_value(d_in, d_out, qkv_bias),
        dropout(p),
        mask(triu(ones({context_length, context_length}), 1)) {}

  Tensor forward(const Tensor& x) const {
    const auto [b, num_tokens, d_in] = x.sizes<3>();
    const Tensor keys = W_key(x);
    const Tensor queries = W_query(x);
    const Tensor values = W_value(x);
    Tensor attn_scores = matmul(queries, keys.transpose(1, 2));
    attn_scores.masked_fill_(mask.to(boolean)[{Slice(None, num_tokens), Slice(None, num_tokens)}],
                             -inf);
    Tensor attn_weights = softmax(attn_scores / std::sqrt(keys.size(-1)), -1);
    attn_weights = dropout(attn_weights);
    return matmul(attn_weights, values);
  }

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_BUFFER(mask);
};

class MultiHeadAttentionWrapper : public nn::Module<MultiHeadAttentionWrapper> {
 public:
  MultiHeadAttentionWrapper(int d_in, int d_out, int context_length, double dropout, int num_heads,
                            bool qkv_bias = false) {
    for (int i = 0; i < num_heads; ++i)
      heads.emplace_back(d_in, d_out, context_length, dropout, qkv_bias);
  }

  Tensor forward(const Tensor& x) const {
    std::vector<Tensor> out;
    for (const auto& head : heads) out.push_back(head(x));
    return cat(out, -1);
  }

  TEND_MODULE(nn::ModuleList<CausalAttention>, heads);
};

class MultiHeadAttention : public nn::Module<MultiHeadAttention> {
 public:
  MultiHeadAttention(int d_in, int width, int context_length, double p, int heads,
                     bool qkv_bias = false)
      : d_out(width),
        num_heads(heads),
        head_dim(width / heads),
        W_query(d_in, width, qkv_bias),
        W_key(d_in, width, qkv_bias),
        W_value(d_in, width, qkv_bias),
        out_proj(width, width),
        dropout(p) {
    register_buffer("mask", triu(ones({context_length, context_length}), 1));
  }

  Tensor forward(const Tensor& x) const {
    const auto [b, num_tokens, d_in] = x.sizes<3>();
    Tensor keys = W_key(x);
    Tensor queries = W_query(x);
    Tensor values = W_value(x);
    keys = keys.view({b, num_tokens, num_heads, head_dim}).transpose(1, 2);
    values = values.view({b, num_tokens, num_heads, head_dim}).transpose(1, 2);
    queries = queries.view({b, num_tokens, num_heads, head_dim}).transpose(1, 2);
    const Tensor attn_scores = matmul(queries, keys.transpose(2, 3));
    const Tensor mask_bool =
        get_buffer("mask").to(boolean)[{Slice(None, num_tokens), Slice(None, num_tokens)}];
    attn_scores.masked_fill_(mask_bool, -inf);
    const Tensor attn_weights = dropout(softmax(attn_scores / std::sqrt(head_dim), -1));
    Tensor context_vec = matmul(attn_weights, values).transpose(1, 2);
    context_vec = context_vec.contiguous().view({b, num_tokens, d_out});
    return out_proj(context_vec);
  }

  int d_out, num_heads, head_dim;
  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Linear, out_proj);
  TEND_MODULE(nn::Dropout, dropout);
};

Tensor softmax_naive(const Tensor& x) {
  return exp(x) / exp(x).sum(0);
}

void without_weights() {
  const Tensor query = inputs[1];
  Tensor attn_scores_2 = empty(inputs.size(0));
  int i = 0;
  for (const Tensor& x_i : inputs) attn_scores_2[i++] = dot(x_i, query);
  check::near("scores", attn_scores_2, tensor({0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865}),
              printed);

  double by_hand = 0;
  for (int k = 0; k < inputs.size(1); ++k) by_hand += inputs[{0, k}].item() * query[k].item();
  check::near("the sum of products", by_hand, 0.9544, printed);

  const Tensor attn_weights_2_tmp = attn_scores_2 / attn_scores_2.sum();
  check::near("normalized", attn_weights_2_tmp,
              tensor({0.1455, 0.2278, 0.2249, 0.1285, 0.1077, 0.1656}), printed);
  const Tensor attn_weights_2 = softmax(attn_scores_2, 0);
  const Tensor weights = tensor({0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581});
  check::near("softmax", attn_weights_2, weights, printed);
  check::near("naive softmax", softmax_naive(attn_scores_2), weights, printed);
  check::near("sum", attn_weights_2.sum().item(), 1, 1e-6);

  Tensor context_vec_2 = zeros(query.shape());
  for (int k = 0; k < 6; ++k) context_vec_2 += attn_weights_2[k] * inputs[k];
  check::near("context", context_vec_2, tensor({0.4419, 0.6515, 0.5683}), printed);

  Tensor attn_scores = empty({6, 6});
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b) attn_scores[{a, b}] = dot(inputs[a], inputs[b]);
  check::near("all scores", attn_scores, matmul(inputs, inputs.T()), 1e-6);
  const Tensor attn_weights = softmax(attn_scores, -1);
  check::near("a row of weights", attn_weights[4],
              tensor({0.1526, 0.1958, 0.1975, 0.1367, 0.1879, 0.1295}), printed);
  const Tensor all_context_vecs = matmul(attn_weights, inputs);
  std::cout << all_context_vecs << '\n';
  check::near("all contexts", all_context_vecs,
              tensor({{0.4421, 0.5931, 0.5790},
                      {0.4419, 0.6515, 0.5683},
                      {0.4431, 0.6496, 0.5671},
                      {0.4304, 0.6298, 0.5510},
                      {0.4671, 0.5910, 0.5266},
                      {0.4177, 0.6503, 0.5645}}),
              printed);
}

void with_weights() {
  const Tensor x_2 = inputs[1];
  const auto d_in = inputs.shape()[1];
  const int d_out = 2;
  manual_seed(123);
  const nn::Parameter W_query(rand({d_in, d_out}), /*requires_grad=*/false);
  const nn::Parameter W_key(rand({d_in, d_out}), false);
  const nn::Parameter W_value(rand({d_in, d_out}), false);
  const Tensor query_2 = matmul(x_2, W_query);
  check::near("query_2", query_2, tensor({0.4306, 1.4551}), printed);
  const Tensor keys = matmul(inputs, W_key);
  const Tensor values = matmul(inputs, W_value);
  check::near("score 22", query_2.dot(keys[1]).item(), 1.8524, printed);
  const Tensor attn_scores_2 = matmul(query_2, keys.T());
  check::near("scores", attn_scores_2, tensor({1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440}),
              printed);
  const Tensor attn_weights_2 = softmax(attn_scores_2 / std::sqrt(keys.size(1)), -1);
  check::near("weights", attn_weights_2, tensor({0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820}),
              printed);
  check::near("context", matmul(attn_weights_2, values), tensor({0.3061, 0.8210}), printed);
}

void self_attention() {
  manual_seed(123);
  const SelfAttentionV1 sa_v1(3, 2);
  check::near("v1", sa_v1(inputs),
              tensor({{0.2996, 0.8053},
                      {0.3061, 0.8210},
                      {0.3058, 0.8203},
                      {0.2948, 0.7939},
                      {0.2927, 0.7891},
                      {0.2990, 0.8040}}),
              printed);

  manual_seed(789);
  const SelfAttentionV2 sa_v2(3, 2);
  check::near("v2", sa_v2(inputs),
              tensor({{-0.0739, 0.0713},
                      {-0.0748, 0.0703},
                      {-0.0749, 0.0702},
                      {-0.0760, 0.0685},
                      {-0.0763, 0.0679},
                      {-0.0754, 0.0693}}),
              printed);

  // v1 with the weights of v2 gives the same result as v2.
  SelfAttentionV1 copy(3, 2);
  copy.W_query = nn::Parameter(sa_v2.W_query.weight.T());
  copy.W_key = nn::Parameter(sa_v2.W_key.weight.T());
  copy.W_value = nn::Parameter(sa_v2.W_value.weight.T());
  check::near("v1 with the weights of v2", copy(inputs), sa_v2(inputs), 1e-6);

  const Tensor keys = sa_v2.W_key(inputs);
  const Tensor attn_scores = matmul(sa_v2.W_query(inputs), keys.T());
  const Tensor attn_weights = softmax(attn_scores / std::sqrt(keys.size(-1)), -1);
  const Tensor mask_simple = tril(ones({6, 6}));
  const Tensor masked_simple = attn_weights * mask_simple;
  const Tensor row_sums = masked_simple.sum(-1, /*keepdim=*/true);
  const Tensor masked_simple_norm = masked_simple / row_sums;
  const Tensor mask = triu(ones({6, 6}), 1);
  const Tensor masked = attn_scores.masked_fill(mask.to(boolean), -inf);
  const Tensor causal_weights = softmax(masked / std::sqrt(keys.size(-1)), -1);
  std::cout << causal_weights << '\n';
  const Tensor expected = tensor({{1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000},
                                  {0.5517, 0.4483, 0.0000, 0.0000, 0.0000, 0.0000},
                                  {0.3800, 0.3097, 0.3103, 0.0000, 0.0000, 0.0000},
                                  {0.2758, 0.2460, 0.2462, 0.2319, 0.0000, 0.0000},
                                  {0.2175, 0.1983, 0.1984, 0.1888, 0.1971, 0.0000},
                                  {0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529}});
  check::near("renormalized weights", masked_simple_norm, expected, printed);
  check::near("causal weights", causal_weights, expected, printed);

  manual_seed(123);
  const nn::Dropout dropout(0.5);
  check::that(dropout(ones({6, 6}))[1].equal(tensor({0.0, 0.0, 0.0, 2.0, 0.0, 2.0})), "dropout");
  manual_seed(123);
  check::near("dropped weights", dropout(attn_weights)[0],
              tensor({0.3843, 0.3293, 0.0000, 0.3100, 0.3442, 0.0000}), printed);
}

void several_heads() {
  const Tensor batch = stack({inputs, inputs}, 0);
  const int context_length = static_cast<int>(batch.size(1));
  manual_seed(123);
  const CausalAttention ca(3, 2, context_length, 0.0);
  const Tensor one = tensor({{-0.4519, 0.2216},
                             {-0.5874, 0.0058},
                             {-0.6300, -0.0632},
                             {-0.5675, -0.0843},
                             {-0.5526, -0.0981},
                             {-0.5299, -0.1081}});
  check::near("causal", ca(batch), stack({one, one}), printed);

  manual_seed(123);
  const MultiHeadAttentionWrapper wrapper(3, 2, context_length, 0.0, 2);
  const Tensor second = tensor({{0.4772, 0.1063},
                                {0.5891, 0.3257},
                                {0.6202, 0.3860},
                                {0.5478, 0.3589},
                                {0.5321, 0.3428},
                                {0.5077, 0.3493}});
  check::near("wrapper", wrapper(batch)[1], cat({one, second}, -1), printed);

  manual_seed(123);
  const MultiHeadAttention mha(3, 2, context_length, 0.0, 2);
  const Tensor context_vecs = mha(batch);
  std::cout << context_vecs << '\n' << "context_vecs.shape: " << context_vecs.shape() << '\n';
  const Tensor expected = tensor({{0.3190, 0.4858},
                                  {0.2943, 0.3897},
                                  {0.2856, 0.3593},
                                  {0.2693, 0.3873},
                                  {0.2639, 0.3928},
                                  {0.2575, 0.4028}});
  check::near("multi-head", context_vecs, stack({expected, expected}), printed);
  check::that(mha.state_dict().contains("mask"), "the buffer is part of the state");
}

}  // namespace

int main() {
  without_weights();
  with_weights();
  self_attention();
  several_heads();
  return check::result();
}
