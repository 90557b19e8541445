// Optimizer steps, in one pass over a parameter and its state.
#pragma once

#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// The factors of a step of Adam or AdamW, which follow from its settings and the number of the
/// step.
struct AdamStep {
  double decay;         // AdamW: 1 - lr * weight_decay; Adam: 1
  double penalty;       // AdamW: 0; Adam: weight_decay
  double first_weight;  // 1 - beta1
  double beta2;
  double second_weight;      // 1 - beta2
  double second_correction;  // sqrt(1 - beta2^step)
  double rate;               // -lr / (1 - beta1^step)
  double eps;
  bool maximize;
};

struct SGDStep {
  double rate;  // -lr
  double decay, momentum;
  double share;  // 1 - dampening
  bool nesterov;
  bool maximize;
  bool first;  // the velocity has no value yet
};

struct RMSpropStep {
  double rate;          // -lr
  double penalty;       // weight_decay
  double alpha, share;  // and 1 - alpha; Adagrad, whose mean is a sum: 1 and 1
  double momentum, eps;
  bool maximize;
};

struct LionStep {
  double rate;                  // -lr
  double decay;                 // 1 - lr * weight_decay
  double beta1, first_weight;   // and 1 - beta1
  double beta2, second_weight;  // and 1 - beta2
};

/// Every factor is rounded to the elements' type first, and so is every result, in PyTorch's order
/// of operations.
template <class T>
struct OptimizerKernels {
  /// `count` contiguous elements each of parameter, gradient, first and second moment, and the
  /// largest second moment so far; `most` is null without amsgrad.
  void (*adam)(T* p, const T* g, T* m, T* v, T* most, std::int64_t count, const AdamStep& step);
  /// `velocity` is null without momentum.
  void (*sgd)(T* p, const T* g, T* velocity, std::int64_t count, const SGDStep& step);
  /// `mean` of gradients is null unless centered, `velocity` without momentum.
  void (*rmsprop)(T* p, const T* g, T* square, T* mean, T* velocity, std::int64_t count,
                  const RMSpropStep& step);
  void (*lion)(T* p, const T* g, T* m, std::int64_t count, const LionStep& step);
};

/// For the processor at hand.
const ForTypes<OptimizerKernels>& optimizer_kernels();

}  // namespace tend::kernels
