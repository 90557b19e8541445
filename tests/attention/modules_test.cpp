
#include <tend/tend.h>

#include "tests/catch.h"

using namespace tend;
using namespace tend::attention;

namespace {

std::vector<std::string> keys(const nn::ModuleBase& module) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : module.state_dict({.all_buffers = true})) out.push_back(name);
  return out;
}

// Checks that rows sum to 1 and everything above the diagonal is 0.
void check_causal_weights(const Tensor& weights) {
  CHECK(allclose(weights.sum({-1}), ones(weights.sum({-1}).shape()), 1e-5, 1e-6));
  CHECK(equal(triu(weights, 1), zeros(weights.shape())));
}

}  // namespace

TEST_CASE("every module can return its weights") {
  const Tensor x = rand({2, 5, 3});
  CHECK(SelfAttentionV1(3, 4).with_weights(x).weights.shape() == Shape{2, 5, 5});
  CHECK(SelfAttentionV2(3, 4).with_weights(x[0]).weights.shape() == Shape{5, 5});
  const AttentionOutput causal = CausalAttention(3, 4, 8, 0.0).with_weights(x);
  CHECK(causal.weights.shape() == Shape{2, 5, 5});
  check_causal_weights(causal.weights);
  const AttentionOutput wrapped = MultiHeadAttentionWrapper(3, 4, 8, 0.0, 3).with_weights(x);
  CHECK(wrapped.weights.shape() == Shape{2, 3, 5, 5});
  CHECK(wrapped.context.shape() == Shape{2, 5, 12});
  check_causal_weights(wrapped.weights);
  const MultiHeadAttention mha(3, 6, 8, 0.0, 3);
  check_causal_weights(mha.with_weights(x).weights);
  CHECK(mha.with_weights(x).weights.shape() == Shape{2, 3, 5, 5});
  // with_weights is composed, and a plain call is fused: they differ by roundings of short sums.
  CHECK(allclose(mha.with_weights(x).context, mha(x), 1e-5, 1e-6));
  const GPT gpt(
      {.vocab_size = 11, .context_length = 6, .width = 8, .num_heads = 2, .num_layers = 3});
  const Tensor tokens = randint(0, 11, {2, 4});
  const GPTOutput out = gpt.with_weights(tokens);
  REQUIRE(out.weights.size() == 3);
  for (const Tensor& weights : out.weights) check_causal_weights(weights);
  CHECK(allclose(out.logits, gpt(tokens), 1e-5, 1e-5));
}

// The book is "Build a Large Language Model (From Scratch)".
TEST_CASE("the state of a module with all of its buffers has the keys of the book's class") {
  CHECK(keys(SelfAttentionV1(3, 2)) == std::vector<std::string>{"W_query", "W_key", "W_value"});
  CHECK(keys(CausalAttention(3, 2, 4, 0.1)) ==
        std::vector<std::string>{"mask", "W_query.weight", "W_key.weight", "W_value.weight"});
  CHECK(keys(MultiHeadAttentionWrapper(3, 2, 4, 0.1, 1, true))[2] == "heads.0.W_query.bias");
  CHECK(keys(MultiHeadAttention(3, 2, 4, 0.1, 2)) ==
        std::vector<std::string>{"mask", "W_query.weight", "W_key.weight", "W_value.weight",
                                 "out_proj.weight", "out_proj.bias"});
  CHECK(CausalAttention(3, 2, 4, 0.1).state_dict().begin()->first == "W_query.weight");
}

TEST_CASE("no token sees later tokens") {
  manual_seed(3);
  const MultiHeadAttention mha(3, 4, 8, 0.0, 2);
  const CausalAttention causal(3, 4, 8, 0.0);
  const Tensor x = rand({1, 6, 3});
  const Tensor changed = x.clone();
  changed[{0, 5}] = 9.0;
  CHECK(equal(mha(x).narrow(1, 0, 5), mha(changed).narrow(1, 0, 5)));
  CHECK_FALSE(equal(mha(x)[{0, 5}], mha(changed)[{0, 5}]));
  CHECK(equal(causal(x).narrow(1, 0, 5), causal(changed).narrow(1, 0, 5)));
  // A shorter input equals the beginning of a longer one, up to the order of sums.
  CHECK(allclose(mha(x.narrow(1, 0, 2)), mha(x).narrow(1, 0, 2), 1e-5, 1e-6));
}

TEST_CASE("an error for an input longer than context_length names the sizes") {
  const Tensor x = rand({2, 7, 3});
  CHECK_THROWS_WITH(
      CausalAttention(3, 2, 6, 0.0)(x),
      "[CausalAttention] 7 tokens in dimension -2 of (2, 7, 3) exceed the context_length of 6");
  CHECK_THROWS_WITH(
      MultiHeadAttention(3, 2, 6, 0.0, 2)(x),
      "[MultiHeadAttention] 7 tokens in dimension -2 of (2, 7, 3) exceed the context_length of 6");
  CHECK_THROWS_AS(MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2)(x), ShapeError);
  CHECK_THROWS_WITH(CausalAttention(3, 2, 6, 0.0)(rand({2, 4, 5})),
                    "[CausalAttention] needs input (..., tokens, 3), got (2, 4, 5)");
}

TEST_CASE("an error for a d_out that the heads do not divide names the sizes") {
  CHECK_THROWS_WITH(MultiHeadAttention(3, 5, 6, 0.0, 2),
                    "[MultiHeadAttention] d_out 5 must be divisible by num_heads 2");
  CHECK_THROWS_AS(MultiHeadAttention(3, 4, 6, 0.0, 0), ShapeError);
  CHECK_THROWS_AS(MultiHeadAttention(3, 0, 6, 0.0, 2), ShapeError);
  CHECK_THROWS_AS(SelfAttentionV1(0, 2), ShapeError);
  CHECK_THROWS_AS(SelfAttentionV1(3, 0), ShapeError);
  CHECK_THROWS_AS(MultiHeadAttention(3, 4, 6, 1.5, 2), Error);
  CHECK_THROWS_AS(MultiHeadAttention(3, 4, -6, 0.0, 2), ShapeError);
}

TEST_CASE("qkv_bias adds biases and dropout acts only in training") {
  CausalAttention biased(3, 2, 6, 0.5, /*qkv_bias=*/true);
  CHECK(biased.W_query.bias.defined());
  CHECK_FALSE(CausalAttention(3, 2, 6, 0.5).W_query.bias.defined());
  const Tensor x = rand({2, 6, 3});
  CHECK_FALSE(equal(biased(x), biased(x)));
  biased.eval();
  CHECK(equal(biased(x), biased(x)));
  check_causal_weights(biased.with_weights(x).weights);
}

TEST_CASE("weights can be copied between both forms of self-attention but biases cannot") {
  const Tensor x = rand({5, 3});
  SelfAttentionV1 plain(3, 2);
  SelfAttentionV2 layers(3, 2);
  plain.copy_weights(layers);
  CHECK(equal(plain(x), layers(x)));
  SelfAttentionV2 biased(3, 2, /*qkv_bias=*/true);
  biased.copy_weights(plain);
  CHECK(allclose(biased(x), plain(x), 1e-6, 1e-6));
  SelfAttentionV2 copy(3, 2);
  copy.copy_weights(plain);
  CHECK(equal(copy(x), layers(x)));
  CHECK_THROWS_WITH(plain.copy_weights(biased),
                    "[SelfAttentionV1] the other module has biases, which this one cannot store");
  CHECK_THROWS_WITH(SelfAttentionV1(3, 4).copy_weights(layers),
                    "[SelfAttentionV1] weights of shape (2, 3), transposed, must have the shape "
                    "(3, 4)");
  CHECK(plain.W_query.is_leaf());
}

TEST_CASE("a module refuses to load a mask that is not causal and stays unchanged") {
  MultiHeadAttention mha(3, 4, 5, 0.0, 2);
  nn::StateDict state = MultiHeadAttention(3, 4, 5, 0.0, 2).state_dict({.all_buffers = true});
  CHECK(state.size() == mha.state_dict().size() + 1);
  const Tensor before = mha.W_query.weight.detach().clone();
  state["mask"] = tril(ones({5, 5}));
  CHECK_THROWS_WITH(mha.load_state_dict(state),
                    Catch::Matchers::ContainsSubstring("must have 1 above the diagonal"));
  CHECK(equal(mha.W_query.weight.detach(), before));
  state["mask"] = triu(ones({5, 5}), 1);
  mha.load_state_dict(state);
  CHECK(equal(mha.W_query.weight.detach(), state["W_query.weight"]));

  CausalAttention one(3, 4, 5, 0.0);
  state = one.state_dict({.all_buffers = true});
  one.load_state_dict(state);
  state["mask"] = ones({5, 5});
  CHECK_THROWS_WITH(one.load_state_dict(state),
                    Catch::Matchers::ContainsSubstring("[CausalAttention]") &&
                        Catch::Matchers::ContainsSubstring("must have 1 above the diagonal"));
}

TEST_CASE("gradients reach every parameter of a GPT") {
  manual_seed(1);
  const GPT gpt({.vocab_size = 7,
                 .context_length = 6,
                 .width = 8,
                 .num_heads = 2,
                 .num_layers = 2,
                 .dropout = 0.1});
  const Tensor tokens = tensor({{0, 1, 2, 3, 4, 5}});
  cross_entropy(gpt(tokens).view({-1, 7}), tokens.view({-1})).backward();
  for (const auto& [name, parameter] : gpt.named_parameters()) {
    INFO(name);
    REQUIRE(parameter.grad().defined());
    CHECK((parameter.grad() * parameter.grad()).sum().item() > 0);
  }
}

TEST_CASE("a GPT refuses tokens that it does not know and sequences that are too long") {
  const GPT gpt(
      {.vocab_size = 7, .context_length = 4, .width = 8, .num_heads = 2, .num_layers = 1});
  CHECK_THROWS_AS(gpt(tensor({{7}})), IndexError);
  CHECK_THROWS_AS(gpt(tensor({{-1}})), IndexError);
  CHECK_THROWS_WITH(gpt(zeros({1, 5}, int64)), "[GPT] needs tokens (batch, at most 4), got (1, 5)");
}

TEST_CASE("simple attention gives each word a context of all words") {
  const Tensor x = rand({4, 3});
  const AttentionOutput all = simple_attention(x);
  const AttentionOutput one = simple_attention(x[2], x);
  CHECK(allclose(one.context, all.context[2], 1e-6, 1e-6));
  CHECK(allclose(softmax_naive(dot_scores(x), 1), all.weights, 1e-6, 1e-6));
  CHECK(sum_normalize(tensor({1.0, 3.0})).to_vector<float>() == std::vector<float>{0.25f, 0.75f});
}

TEST_CASE("a GPT has the GELU that its configuration names in every block") {
  const GPTConfig config{
      .vocab_size = 7, .context_length = 4, .width = 4, .num_heads = 2, .gelu = GeluKind::tanh};
  const GPT gpt(config);
  for (const TransformerBlock& block : gpt.blocks)
    CHECK(block.feed_forward.activation.approximate == GeluKind::tanh);
  CHECK(FeedForward(4).activation.approximate == GeluKind::exact);
  const FeedForward layer(4, GeluKind::tanh);
  const Tensor x = randn({3, 4});
  CHECK(layer(x).equal(layer.down(gelu(layer.up(x), GeluKind::tanh))));
}
