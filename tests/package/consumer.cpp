#include <tend/tend.h>
#include <iostream>

int main() {
  const tend::Tensor x = tend::ones({2, 3});
  const tend::Tensor y = tend::matmul(x, x.t());
  std::cout << y << '\n';
  return y.sum().item<float>() == 12.0F ? 0 : 1;
}
