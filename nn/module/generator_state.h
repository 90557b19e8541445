// The state of a random generator as a tensor, so that a state_dict can save it.
#pragma once

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/random/random.h>

namespace tend::nn {

/// The generator's state as 315 int64 numbers: the bytes of Generator::to_bytes().
Tensor tensor_of_generator(const Generator& generator);
/// The generator with the state that tensor_of_generator() returned.
///
/// Throws: IoError - the tensor is not the state of a generator
Generator generator_of_tensor(const Tensor& tensor);

}  // namespace tend::nn
