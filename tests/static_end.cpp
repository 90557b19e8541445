// A program whose static and thread-local objects own tensors with a graph until the program ends.
// Its exit status is 0 if they are destroyed without a crash.
#include <tend/tend.h>

#include <thread>

using namespace tend;

namespace {

struct Training {
  Tensor x, loss;

  void run() {
    x = randn({256, 64}).requires_grad_();
    loss = x.matmul(x.mT()).square().mean();
    loss.backward({}, /*retain_graph=*/true);
  }
};

Training of_program;
thread_local Training of_thread;

}  // namespace

int main() {
  of_program.run();
  of_thread.run();
  std::thread([] { of_thread.run(); }).join();
  return of_program.x.grad().defined() ? 0 : 1;
}
