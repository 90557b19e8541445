// What the sources of libtorch's worker share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>

#include "../worker.h"

namespace compare {

using at::Tensor;
using InferenceGuard = c10::InferenceMode;

Tensor random_tensor(std::uint64_t seed, at::IntArrayRef shape);
void add_tensor(Result& result, const Tensor& tensor);

/// One of several ways to do a work.
struct Way {
  std::string name;
  std::function<Task()> prepare;
};
/// The way that is named, or else the fastest.
Task chosen_way(const std::string& name, const std::vector<Way>& ways);

/// Attention with a floating or bool mask (undefined: none) or the causal rule, through
/// scaled_dot_product_attention, where the version has it; otherwise composed.
Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
              bool is_causal);
Tensor attend_composed(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& mask);

}  // namespace compare
