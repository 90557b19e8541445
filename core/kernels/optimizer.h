// Optimizer steps, in one pass over a parameter and its state.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// What AdamW's step takes from its settings and the number of the step.
struct AdamWStep {
  double decay;         // 1 - lr * weight_decay
  double first_weight;  // 1 - beta1
  double beta2;
  double second_weight;      // 1 - beta2
  double second_correction;  // sqrt(1 - beta2^step)
  double rate;               // -lr / (1 - beta1^step)
  double eps;
};

/// `count` neighbours: parameter, gradient, first and second moment; every factor is rounded to the
/// elements' type first, and so is every result, in PyTorch's order of operations.
void adamw_step(float* p, const float* g, float* m, float* v, std::int64_t count,
                const AdamWStep& step);
void adamw_step(double* p, const double* g, double* m, double* v, std::int64_t count,
                const AdamWStep& step);

struct SGDStep {
  double rate;  // -lr
  double decay, momentum;
  double share;  // 1 - dampening
  bool nesterov;
  bool first;  // the velocity has no value yet
};

/// As above; `velocity` is null without momentum.
void sgd_step(float* p, const float* g, float* velocity, std::int64_t count, const SGDStep& step);
void sgd_step(double* p, const double* g, double* velocity, std::int64_t count,
              const SGDStep& step);

}  // namespace tend::kernels
