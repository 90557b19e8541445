#include <iostream>

#include <tend/tend.h>
using namespace tend;

int main() {
  manual_seed(123);  // torch.manual_seed(123) gives the same weights
  // d_in, d_out, context_length, dropout, num_heads
  attention::MultiHeadAttention mha(3, 2, 6, 0.0, 2);
  const Tensor x = tensor({{{0.43, 0.15, 0.89}, {0.55, 0.87, 0.66}, {0.57, 0.85, 0.64}}});
  std::cout << mha(x) << '\n' << mha.with_weights(x).weights << '\n';  // (batch, head, query, key)
  mha.to(float64);
  const auto check =
      gradcheck([&](const Tensor& t) { return mha(t); }, {x.to(float64).requires_grad_()});
  std::cout << "gradients " << (check.passed ? "agree" : "differ") << " with differences\n";
}
