#include <tend/attention/book/self_attention.h>

#include <array>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

nn::Parameter drawn(std::int64_t d_in, std::int64_t d_out, Draw draw) {
  if (d_in < 1 || d_out < 1)
    fail<ShapeError>("SelfAttentionV1", "d_in and d_out must be at least 1, got ", d_in, " and ",
                     d_out);
  return nn::Parameter(draw == Draw::uniform ? rand({d_in, d_out}) : randn({d_in, d_out}));
}

using Three = std::array<Tensor, 3>;

// Checks all three shapes before it writes any.
void copy_transposed(const char* operation, const Three& to, const Three& from) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].shape() != from[i].t().shape()) {
      fail<ShapeError>(operation, "weights of shape ", from[i].shape(),
                       ", transposed, must have the shape ", to[i].shape());
    }
  }
  const NoGradGuard guard;
  for (std::size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i].t());
}

}  // namespace

SelfAttentionV1::SelfAttentionV1(std::int64_t d_in, std::int64_t d_out, Draw draw) {
  W_query = drawn(d_in, d_out, draw);
  W_key = drawn(d_in, d_out, draw);
  W_value = drawn(d_in, d_out, draw);
}

Tensor SelfAttentionV1::forward(const Tensor& x) const {
  return scaled_dot_product_attention(matmul(x, W_query), matmul(x, W_key), matmul(x, W_value));
}

AttentionOutput SelfAttentionV1::with_weights(const Tensor& x) const {
  return attention_with_weights(matmul(x, W_query), matmul(x, W_key), matmul(x, W_value));
}

void SelfAttentionV1::copy_weights(const SelfAttentionV2& other) {
  if (other.W_query.bias.defined())
    fail("SelfAttentionV1", "the other module has biases, which this one cannot store");
  copy_transposed("SelfAttentionV1", {W_query, W_key, W_value},
                  {other.W_query.weight, other.W_key.weight, other.W_value.weight});
}

SelfAttentionV2::SelfAttentionV2(std::int64_t d_in, std::int64_t d_out, Flag qkv_bias)
    : W_query(d_in, d_out, qkv_bias),
      W_key(d_in, d_out, qkv_bias),
      W_value(d_in, d_out, qkv_bias) {}

Tensor SelfAttentionV2::forward(const Tensor& x) const {
  return scaled_dot_product_attention(W_query(x), W_key(x), W_value(x));
}

AttentionOutput SelfAttentionV2::with_weights(const Tensor& x) const {
  return attention_with_weights(W_query(x), W_key(x), W_value(x));
}

void SelfAttentionV2::copy_weights(const SelfAttentionV1& other) {
  copy_transposed("SelfAttentionV2", {W_query.weight, W_key.weight, W_value.weight},
                  {other.W_query, other.W_key, other.W_value});
  const NoGradGuard guard;
  for (const nn::Linear* layer : {&W_query, &W_key, &W_value}) {
    if (layer->bias.defined()) layer->bias.zero_();
  }
}

}  // namespace tend::attention
