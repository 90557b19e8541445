// Definitions that the sources of libtorch's worker share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/version.h>

#include "../worker.h"

namespace compare {

using at::Tensor;
using InferenceGuard = c10::InferenceMode;
using Sizes = at::IntArrayRef;

template <class T>
Tensor make_tensor(const std::vector<T>& values, Sizes shape) {
  const Tensor tensor = at::empty(shape, c10::CppTypeToScalarType<T>::value);
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor;
}

inline void add_tensor(Result& result, const Tensor& tensor) {
  const Tensor dense = tensor.detach().contiguous();
  result.add({dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())});
}

inline void clear_gradient(const Tensor& tensor) {
  tensor.mutable_grad().reset();
}

inline std::vector<Tensor> gradients(const Tensor& output, const std::vector<Tensor>& inputs,
                                     const Tensor& cotangent) {
  return torch::autograd::grad({output}, inputs, {cotangent});
}

/// One of several ways to do a row's work.
struct Way {
  std::string name;
  std::function<Task()> prepare;
};
/// The Task of the way with this name, or of the fastest way if `name` is empty.
Task chosen_way(const std::string& name, const std::vector<Way>& ways);

/// Attention with a mask (floating or bool; undefined for no mask) or with the causal rule. Calls
/// scaled_dot_product_attention if this version of libtorch has it, else attend_composed().
Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
              bool is_causal);
/// Attention as products and softmax.
Tensor attend_composed(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& mask);

}  // namespace compare
