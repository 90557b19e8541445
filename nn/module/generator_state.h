// Generators as tensors, the form in which their state is saved.
#pragma once

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/random/random.h>

namespace tend::nn {

/// The 315 int64 of Generator::to_bytes().
Tensor tensor_of_generator(const Generator& generator);
/// The generator whose state the tensor is; IoError for one that is none.
Generator generator_of_tensor(const Tensor& tensor);

}  // namespace tend::nn
