#include <tend/attention/functions/simple.h>

#include <tend/autograd/ops/ops.h>

namespace tend::attention {

Tensor dot_scores(const Tensor& query, const Tensor& inputs) {
  return matmul(inputs, query);
}

Tensor dot_scores(const Tensor& inputs) {
  return matmul(inputs, inputs.t());
}

Tensor sum_normalize(const Tensor& x) {
  return x / x.sum();
}

Tensor softmax_naive(const Tensor& x, std::int64_t dim) {
  const Tensor exps = exp(x);
  return exps / exps.sum({dim}, /*keepdim=*/true);
}

AttentionOutput simple_attention(const Tensor& query, const Tensor& inputs) {
  const Tensor weights = softmax(dot_scores(query, inputs), -1);
  return {matmul(weights, inputs), weights};
}

AttentionOutput simple_attention(const Tensor& inputs) {
  const Tensor weights = softmax(dot_scores(inputs), -1);
  return {matmul(weights, inputs), weights};
}

}  // namespace tend::attention
