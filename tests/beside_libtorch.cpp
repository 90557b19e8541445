// A program that uses tend and libtorch in turn, and then at the same time. The results must stay
// the same. Each library has its own threads, and they share one OpenBLAS.
#include <tend/tend.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

// A matrix product that is large enough for OpenBLAS and for all threads, and its gradient.
double tend_step() {
  const tend::Tensor a = tend::arange(0, 300 * 300, {.dtype = tend::float32}).reshape({300, 300});
  const tend::Tensor x = (a / 9e4).requires_grad_();
  x.matmul(x).sin().sum().backward();
  return x.grad().abs().sum().item();
}

double torch_step() {
  const torch::Tensor a = torch::arange(0, 300 * 300, torch::kFloat32).reshape({300, 300});
  const torch::Tensor x = (a / 9e4).requires_grad_();
  x.matmul(x).sin().sum().backward();
  return x.grad().abs().sum().item<double>();
}

bool near(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::abs(b);  // float32 sums of 90,000 numbers
}

}  // namespace

int main() {
  const double alone = tend_step(), other = torch_step();
  bool right = near(alone, other);
  for (int i = 0; i < 20; ++i) right = right && tend_step() == alone && near(torch_step(), other);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&, alone, other] {
      for (int i = 0; i < 20; ++i) {
        if (tend_step() != alone) ++count;
        if (!near(torch_step(), other)) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) right = right && count == 0;
  if (!right) std::fprintf(stderr, "beside_libtorch: tend %.9g, libtorch %.9g\n", alone, other);
  return right ? 0 : 1;
}
