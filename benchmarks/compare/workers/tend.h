// Definitions that the sources of tend's worker share.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/tend.h>

#include "../worker.h"

namespace compare {

using tend::Tensor;
using InferenceGuard = tend::InferenceModeGuard;
using Sizes = const tend::Shape&;

template <class T>
Tensor make_tensor(const std::vector<T>& values, Sizes shape) {
  return Tensor(tend::Array::from<T>(values, shape));
}

inline void add_tensor(Result& result, const Tensor& tensor) {
  result.add(tensor.to_vector<float>());
}

inline void clear_gradient(Tensor tensor) {
  tensor.zero_grad();
}

inline std::vector<Tensor> gradients(const Tensor& output, const std::vector<Tensor>& inputs,
                                     const Tensor& cotangent) {
  return tend::autograd::grad({output}, inputs, {cotangent});
}

using tend::optim::AdamW;

/// Sets each parameter of a model to its parameter_values() (see inputs.h).
void set_parameters(tend::nn::ModuleBase& module, std::uint64_t seed);

}  // namespace compare
