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

at::Tensor random_tensor(std::uint64_t seed, at::IntArrayRef shape);
void add_tensor(Result& result, const at::Tensor& tensor);

/// Heads as attention has them: (B, H, T, D) seen in (B, T, H * D).
at::Tensor random_heads(std::uint64_t seed, std::int64_t batch, std::int64_t heads,
                        std::int64_t length, std::int64_t width);

template <class F>
Task forward_task(F f) {
  return {[f](std::int64_t count) {
            const c10::InferenceMode guard;
            for (std::int64_t i = 0; i < count; ++i) f();
          },
          [f](Result& result) {
            const c10::InferenceMode guard;
            add_tensor(result, f());
          }};
}

/// One of several ways to do a work.
struct Way {
  std::string name;
  std::function<Task()> prepare;
};
/// The way that is named, or else the fastest.
Task chosen_way(const std::string& name, const std::vector<Way>& ways);

/// Attention with a floating or bool mask (undefined: none) or the causal rule, through
/// scaled_dot_product_attention, where the version has it; otherwise composed.
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                  const at::Tensor& mask, bool is_causal);
at::Tensor attend_composed(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const at::Tensor& mask);

Task attention_forward(const Work& work, std::uint64_t seed);
Task attention_backward(const Work& work, std::uint64_t seed);
Task training_step(const Work& work, std::uint64_t seed);
Task masked_attention(const Work& work, std::uint64_t seed);
Task generation(const Work& work, std::uint64_t seed);

}  // namespace compare
