#include <iostream>

#include <tend/tend.h>

using namespace tend;

int main() {
  const Tensor words = tensor({{0.43, 0.15, 0.89}, {0.55, 0.87, 0.66}, {0.57, 0.85, 0.64}});
  const Tensor batch = stack({words, words}, 0);
  manual_seed(123);  // torch.manual_seed(123) gives the same weights
  attention::MultiHeadAttention mha(/*d_in=*/3, /*d_out=*/2, /*context_length=*/6,
                                    /*dropout=*/0.0, /*num_heads=*/2);
  std::cout << mha(batch) << '\n';

  optim::AdamW optimizer(mha.parameters(), {.lr = 0.05});
  for (int step = 0; step < 20; ++step) {
    const Tensor loss = mse_loss(mha(batch), zeros({2, 3, 2}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 5 == 0) std::cout << "step " << step << ", loss " << loss.item() << '\n';
  }
  std::cout << mha.with_weights(words).weights << '\n';  // (num_heads, queries, keys)

  mha.to(float64);
  const Tensor x = words.to(float64).requires_grad_();
  std::cout << gradcheck([&](const Tensor& t) { return mha(t); }, {x}).message << '\n';
  return std::cout.flush() ? 0 : 1;
}
