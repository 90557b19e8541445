// Random tensors: PyTorch's numbers, seed for seed (core/distributions.h says how close), and no
// gradients.
#pragma once

#include <cstdint>

#include <tend/core/array.h>
#include <tend/core/random.h>

namespace tend {

class Tensor;

// Floating dtypes only where a dtype is asked for, unless stated (DTypeError). The in-place twins
// are Tensor's uniform_, normal_, bernoulli_ and exponential_.

/// Uniform on [0, 1).
Tensor rand(const Shape& shape, DType dtype = float32, Generator& generator = default_generator());
/// From the normal distribution of mean 0 and variance 1.
Tensor randn(const Shape& shape, DType dtype = float32, Generator& generator = default_generator());
/// Whole numbers, uniform on [low, high), in any dtype that holds them; Error for an empty range.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype = int64,
               Generator& generator = default_generator());
/// A permutation of 0 ... n-1, int64.
Tensor randperm(std::int64_t n, Generator& generator = default_generator());
/// 1 with the probability that stands in the same place, else 0; the gradient is zero.
Tensor bernoulli(const Tensor& probabilities, Generator& generator = default_generator());
/// Category numbers (int64), `samples` for each row of weights: (n,) gives (samples,), (m, n) gives
/// (m, samples). Error where there are too few weights over zero.
Tensor multinomial(const Tensor& weights, std::int64_t samples, bool replacement = false,
                   Generator& generator = default_generator());

}  // namespace tend
