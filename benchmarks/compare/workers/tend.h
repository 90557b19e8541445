// What the sources of tend's worker share.
#pragma once

#include <cstdint>

#include <tend/tend.h>

#include "../worker.h"

namespace compare {

using tend::Tensor;
using InferenceGuard = tend::InferenceModeGuard;

Tensor random_tensor(std::uint64_t seed, const tend::Shape& shape);
void add_tensor(Result& result, const Tensor& tensor);

/// Gives a model's parameters the values that their names decide.
void set_parameters(tend::nn::ModuleBase& module, std::uint64_t seed);

}  // namespace compare
