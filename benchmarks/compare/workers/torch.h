// What the two sources of libtorch's worker share.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>
#include <torch/version.h>

#include "../worker.h"

namespace compare {

at::Tensor random_tensor(std::uint64_t seed, at::IntArrayRef shape);
void add_tensor(Result& result, const at::Tensor& tensor);

Task attention_forward(const Work& work, std::uint64_t seed);
Task attention_backward(const Work& work, std::uint64_t seed);
Task training_step(const Work& work, std::uint64_t seed);

}  // namespace compare
