// Hooks in a program that is compiled at -O1. At this level, GCC 12 once assumed that a call of a
// hook does not change the variables that the hook captures.
#include <iostream>
#include <vector>

#include <tend/tend.h>

using namespace tend;

namespace {

struct Twice : nn::Module<Twice> {
  Tensor forward(const Tensor& x) const { return x * 2; }
};

// The number of calls that each hook counted.
int calls_of_tensor_hook() {
  int calls = 0;
  const Tensor x = zeros({2}).requires_grad_(), y = x * 1;
  y.register_hook([&](const Tensor&) { ++calls; });
  y.sum().backward();
  return calls;
}
int calls_of_forward_hook() {
  int calls = 0;
  Twice module;
  module.register_forward_hook(
      [&](const nn::ModuleBase&, const std::vector<Tensor>&, Tensor&) { ++calls; });
  module(zeros({2}));
  return calls;
}
int calls_of_pre_hook() {
  int calls = 0;
  Twice module;
  module.register_forward_pre_hook([&](const nn::ModuleBase&, const std::vector<Tensor>& inputs) {
    ++calls;
    return inputs[0];
  });
  module(zeros({2}));
  return calls;
}
int calls_of_backward_hook() {
  int calls = 0;
  Twice module;
  module.register_backward_hook([&](std::vector<Tensor>&, const Tensor&) { ++calls; });
  module(zeros({2}).requires_grad_()).sum().backward();
  return calls;
}

}  // namespace

int main() {
  const std::vector<int> calls{calls_of_tensor_hook(), calls_of_forward_hook(), calls_of_pre_hook(),
                               calls_of_backward_hook()};
  for (const int each : calls) std::cout << each << ' ';
  std::cout << '\n';
  return calls == std::vector<int>{1, 1, 1, 1} ? 0 : 1;
}
