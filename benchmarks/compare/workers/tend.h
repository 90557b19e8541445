// What the two sources of tend's worker share.
#pragma once

#include <cstdint>

#include <tend/tend.h>

#include "../worker.h"

namespace compare {

tend::Tensor random_tensor(std::uint64_t seed, const tend::Shape& shape);
void add_tensor(Result& result, const tend::Tensor& tensor);

Task attention_forward(const Work& work, std::uint64_t seed);
Task attention_backward(const Work& work, std::uint64_t seed);
Task training_step(const Work& work, std::uint64_t seed);

}  // namespace compare
