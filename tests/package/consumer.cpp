#include <tend/tend.h>
#include <iostream>

#ifdef CONSUMER_HAS_TEXT
#include <tend/nn/text/byte_pair_encoding.h>

bool text_comes_back() {
  const auto tokenizer = tend::nn::BytePairEncoding::train("the cat the cat");
  return tokenizer.decode(tokenizer.encode("a cat")) == "a cat";
}
#else
bool text_comes_back() {
  return true;
}
#endif

int main() {
  const tend::Tensor x = tend::ones({2, 3});
  const tend::Tensor y = tend::matmul(x, x.t());
  std::cout << y << '\n';
  return y.sum().item<float>() == 12.0F && text_comes_back() ? 0 : 1;
}
