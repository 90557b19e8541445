#include "tests/op_table/op_noise.h"

#include <utility>

#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/random/distributions.h>

namespace tend::test {

GradientNoise::GradientNoise(std::string name, double standard_deviation)
    : name_(std::move(name)),
      standard_deviation_(standard_deviation),
      hook_([this](const Node& node, std::span<Tensor> gradients) {
        if (node.grad_fn() != name_) return;
        for (Tensor& gradient : gradients) {
          if (!gradient.defined()) continue;
          const Tensor noise = empty(gradient.shape(), gradient.dtype());
          kernels::normal(noise.array(), 0, standard_deviation_, generator_);
          gradient = gradient + noise;
          ++count_;
        }
      }) {}

}  // namespace tend::test
