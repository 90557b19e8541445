// A program whose static objects and those of its threads hold tensors, and still compute with them
// while they are destroyed. Its exit status is 0 if all of them found the right results.
#include <tend/tend.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <thread>

using namespace tend;

namespace {

// Trains while it is destroyed, with a graph that was made before, or ends the process with 1.
class Last {
 public:
  void begin() {
    x_ = randn({256, 64}).requires_grad_();
    loss_ = x_->matmul(x_->mT()).square().mean();
  }
  ~Last() {
    if (!x_) return;
    try {
      loss_->backward();
      nn::Linear model(64, 8);
      optim::SGD optimizer(model.parameters(), 0.1);
      model(*x_).sum().backward();
      optimizer.step();
      const Tensor expected = 4 / 65536.0 * x_->matmul(x_->mT()).matmul(*x_).detach();
      const Tensor found =
          x_->grad() - matmul(ones({256, 8}), model.weight.detach() + 0.1 * model.weight.grad());
      // Sums of 256 float32 numbers, by another order.
      if (allclose(found, expected, 1e-4, 1e-4)) return;
      std::fputs("static_end: a gradient is wrong\n", stderr);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "static_end: %s\n", error.what());
    }
    _exit(1);
  }

 private:
  std::optional<Tensor> x_, loss_;
};

// Destroyed after all that tend makes at its first use, as it is made before.
Last of_program;
thread_local Last of_thread;

}  // namespace

int main() {
  manual_seed(1);
  const nn::Profiler profiler;  // ends before them
  of_program.begin();
  of_thread.begin();
  std::thread([] { of_thread.begin(); }).join();
}
