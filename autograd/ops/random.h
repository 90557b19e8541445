/// \file
/// Random tensors: PyTorch's numbers, seed for seed (core/random/distributions.h says how close).
/// TensorOptions may stand for a dtype: randn({2}, {.requires_grad = true}) is a leaf.
/// The in-place twins are Tensor's uniform_, normal_, bernoulli_ and exponential_.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor_options.h>
#include <tend/core/array/array.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;

///@{
/// Uniform on [0, 1). Floating dtypes only (DTypeError); ShapeError for a negative size. No
/// gradient.
Tensor rand(const Shape& shape, Exactly<DType> dtype = float32,
            Generator& generator = default_generator());
Tensor rand(const Shape& shape, const TensorOptions& options,
            Generator& generator = default_generator());
Tensor rand(const Shape& shape, Generator& generator);
///@}
///@{
/// From the normal distribution of mean 0 and variance 1. Floating dtypes only (DTypeError);
/// ShapeError for a negative size. No gradient.
Tensor randn(const Shape& shape, Exactly<DType> dtype = float32,
             Generator& generator = default_generator());
Tensor randn(const Shape& shape, const TensorOptions& options,
             Generator& generator = default_generator());
Tensor randn(const Shape& shape, Generator& generator);
///@}
///@{
/// rand (randn) in the shape of `like`, and in its dtype unless another is given, with its errors.
/// Drawn in the order of the memory, which is that of `like`. No gradient.
Tensor rand_like(const Tensor& like, std::optional<DType> dtype = std::nullopt,
                 Generator& generator = default_generator());
Tensor randn_like(const Tensor& like, std::optional<DType> dtype = std::nullopt,
                  Generator& generator = default_generator());
Tensor rand_like(const Tensor& like, const TensorOptions& options,
                 Generator& generator = default_generator());
Tensor randn_like(const Tensor& like, const TensorOptions& options,
                  Generator& generator = default_generator());
///@}
///@{
/// From the normal distribution of this mean and this standard deviation, which is 0 or more
/// (Error). Floating dtypes only (DTypeError); ShapeError for a negative size. No gradient.
Tensor normal(double mean, double std, const Shape& shape, Exactly<DType> dtype = float32,
              Generator& generator = default_generator());
Tensor normal(double mean, double std, const Shape& shape, const TensorOptions& options,
              Generator& generator = default_generator());
Tensor normal(double mean, double std, const Shape& shape, Generator& generator);
///@}
///@{
/// Each element from the normal distribution of the mean and standard deviation at the same index,
/// which broadcast. The dtype is that of the mean, or of `std` where the mean is a number; it is
/// floating (DTypeError). Error for a standard deviation that is negative or NaN. The gradients are
/// zero, as in PyTorch.
Tensor normal(const Tensor& mean, double std = 1, Generator& generator = default_generator());
Tensor normal(double mean, const Tensor& std, Generator& generator = default_generator());
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator = default_generator());
///@}
///@{
/// Whole numbers, uniform on [low, high), in any dtype that holds them exactly (Error); Error for
/// an empty range, ShapeError for a negative size. No gradient.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               Exactly<DType> dtype = int64, Generator& generator = default_generator());
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               const TensorOptions& options, Generator& generator = default_generator());
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator);
///@}
///@{
/// The same on [0, high). No gradient.
Tensor randint(std::int64_t high, const Shape& shape, Exactly<DType> dtype = int64,
               Generator& generator = default_generator());
Tensor randint(std::int64_t high, const Shape& shape, const TensorOptions& options,
               Generator& generator = default_generator());
Tensor randint(std::int64_t high, const Shape& shape, Generator& generator);
///@}
/// A permutation of 0 ... n-1, int64; ShapeError for n < 0. No gradient.
Tensor randperm(std::int64_t n, Generator& generator = default_generator());
/// Each element is 1 with the probability at the same index, else 0; it has the shape and dtype of
/// `probabilities`, which is floating (DTypeError). Error unless they lie in [0, 1]. Their gradient
/// is zero.
Tensor bernoulli(const Tensor& probabilities, Generator& generator = default_generator());
/// Each element is 1 with probability p (Error unless it lies in [0, 1]), else 0, in the shape and
/// dtype of `like`. No gradient.
Tensor bernoulli(const Tensor& like, double p, Generator& generator = default_generator());
/// Indices of categories (int64), `samples` for each row of weights: (n,) gives (samples,), (m, n)
/// gives (m, samples). ShapeError for other ranks, no sample, more than 2^24 categories or, without
/// replacement, more samples than categories; DTypeError unless floating; Error for weights that
/// are negative or not finite, and where too few are positive. No gradient.
Tensor multinomial(const Tensor& weights, std::int64_t samples, Flag replacement = false,
                   Generator& generator = default_generator());

}  // namespace tend
