// What the sources of tend's worker share.
#pragma once

#include <cstdint>

#include <tend/tend.h>

#include "../worker.h"

namespace compare {

tend::Tensor random_tensor(std::uint64_t seed, const tend::Shape& shape);
void add_tensor(Result& result, const tend::Tensor& tensor);

/// Heads as attention has them: (B, H, T, D) seen in (B, T, H * D).
tend::Tensor random_heads(std::uint64_t seed, std::int64_t batch, std::int64_t heads,
                          std::int64_t length, std::int64_t width);

/// Gives a model's parameters the values that their names decide.
void set_parameters(tend::nn::ModuleBase& module, std::uint64_t seed);

/// f() without graph. The result of the last call is not kept, as in a chain of operations.
template <class F>
Task forward_task(F f) {
  return {[f](std::int64_t count) {
            const tend::InferenceModeGuard guard;
            for (std::int64_t i = 0; i < count; ++i) f();
          },
          [f](Result& result) {
            const tend::InferenceModeGuard guard;
            add_tensor(result, f());
          }};
}

Task attention_forward(const Work& work, std::uint64_t seed);
Task attention_backward(const Work& work, std::uint64_t seed);
Task training_step(const Work& work, std::uint64_t seed);
Task masked_attention(const Work& work, std::uint64_t seed);
Task generation(const Work& work, std::uint64_t seed);

}  // namespace compare
