// A step of LBFGS that needs no model.
#pragma once

#include <vector>

#include <tend/tend.h>

namespace tend::test {

// A step along gradients that are small where the parameters are.
inline void step_to_zero(optim::LBFGS& optimizer, const std::vector<Tensor>& parameters) {
  optimizer.step([&] {
    const NoGradGuard no_grad;
    Tensor loss = zeros({});
    for (Tensor x : parameters) {
      loss = loss + (x * x).sum();
      x.set_grad(x * 2);
    }
    return loss;
  });
}

}  // namespace tend::test
