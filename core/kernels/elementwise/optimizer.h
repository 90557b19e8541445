// Optimizer steps, in one pass over a parameter and its state.
#pragma once

#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// The factors of a step of Adam or AdamW. They follow from the settings and the number of the
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
  bool first;  // this is the first step, so the velocity has no value yet
};

struct RMSpropStep {
  double rate;          // -lr
  double penalty;       // weight_decay
  double alpha, share;  // share is 1 - alpha; but both are 1 for Adagrad, which adds up the squares
  double momentum, eps;
  bool maximize;
};

struct LionStep {
  double rate;                  // -lr
  double decay;                 // 1 - lr * weight_decay
  double beta1, first_weight;   // first_weight is 1 - beta1
  double beta2, second_weight;  // second_weight is 1 - beta2
};

/// Kernels for one step. Each factor is first rounded to the elements' type, and so is each result.
/// The order of operations is PyTorch's.
template <class T>
struct OptimizerKernels {
  /// Updates `count` contiguous elements of the parameter p. g is the gradient, and m and v are the
  /// first and second moment. `most` is the largest second moment so far, or null without amsgrad.
  void (*adam)(T* p, const T* g, T* m, T* v, T* most, std::int64_t count, const AdamStep& step);
  /// `velocity` is null without momentum.
  void (*sgd)(T* p, const T* g, T* velocity, std::int64_t count, const SGDStep& step);
  /// `mean` is the mean of the gradients, or null unless centered. `velocity` is null without
  /// momentum.
  void (*rmsprop)(T* p, const T* g, T* square, T* mean, T* velocity, std::int64_t count,
                  const RMSpropStep& step);
  void (*lion)(T* p, const T* g, T* m, std::int64_t count, const LionStep& step);
};

/// The kernels for the processor at hand.
const ForTypes<OptimizerKernels>& optimizer_kernels();

}  // namespace tend::kernels
