/// \file
/// Random tensors. The same seed gives the same numbers as in PyTorch; core/random/distributions.h
/// says how exactly they agree.
///
/// A function that accepts a dtype accepts TensorOptions, too: randn({2}, {.requires_grad = true})
/// is a leaf. The in-place forms are Tensor's uniform_, normal_, bernoulli_ and exponential_.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor_options.h>
#include <tend/core/array/array.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;

///@{
/// Creates a tensor of random numbers that are uniform on [0, 1).
///
/// The dtype is floating, float32 by default. No gradient.
///
/// Throws:
///   DTypeError - the dtype is not floating
///   ShapeError - a size is negative
Tensor rand(const Shape& shape, Exactly<DType> dtype = float32,
            Generator& generator = default_generator());
Tensor rand(const Shape& shape, const TensorOptions& options,
            Generator& generator = default_generator());
Tensor rand(const Shape& shape, Generator& generator);
///@}
///@{
/// Creates a tensor of random numbers from the normal distribution of mean 0 and variance 1.
///
/// The dtype is floating, float32 by default. No gradient.
///
/// Throws:
///   DTypeError - the dtype is not floating
///   ShapeError - a size is negative
Tensor randn(const Shape& shape, Exactly<DType> dtype = float32,
             Generator& generator = default_generator());
Tensor randn(const Shape& shape, const TensorOptions& options,
             Generator& generator = default_generator());
Tensor randn(const Shape& shape, Generator& generator);
///@}
///@{
/// Creates a tensor of random numbers in the shape of `like`, as rand or randn does.
///
/// The dtype is the dtype of `like` unless another is given. The result has the memory order of
/// `like`, and is filled in this order. The errors are rand's. No gradient.
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
/// Creates a tensor of random numbers from the normal distribution of the given mean and standard
/// deviation.
///
/// The dtype is floating, float32 by default. No gradient.
///
/// Throws:
///   DTypeError - the dtype is not floating
///   Error      - the standard deviation is negative or NaN
///   ShapeError - a size is negative
Tensor normal(double mean, double std, const Shape& shape, Exactly<DType> dtype = float32,
              Generator& generator = default_generator());
Tensor normal(double mean, double std, const Shape& shape, const TensorOptions& options,
              Generator& generator = default_generator());
Tensor normal(double mean, double std, const Shape& shape, Generator& generator);
///@}
///@{
/// Creates random numbers from normal distributions, with a mean and standard deviation for each
/// element.
///
/// Tensors of means and standard deviations broadcast. The result has the dtype of the mean, or the
/// dtype of `std` if the mean is a number. The gradients are zero, as in PyTorch.
///
/// Throws:
///   DTypeError - the result's dtype is not floating
///   Error      - a standard deviation is negative or NaN
///   ShapeError - the shapes do not broadcast
Tensor normal(const Tensor& mean, double std = 1, Generator& generator = default_generator());
Tensor normal(double mean, const Tensor& std, Generator& generator = default_generator());
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator = default_generator());
///@}
///@{
/// Creates a tensor of random integers that are uniform on [low, high).
///
/// The dtype is int64 by default, and may be any that holds these integers exactly. No gradient.
///
/// Throws:
///   Error      - the range is empty, or the dtype does not hold all its integers
///   ShapeError - a size is negative
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               Exactly<DType> dtype = int64, Generator& generator = default_generator());
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               const TensorOptions& options, Generator& generator = default_generator());
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator);
///@}
///@{
/// Creates a tensor of random integers that are uniform on [0, high).
///
/// The dtypes and errors are the same as for randint with low = 0. No gradient.
Tensor randint(std::int64_t high, const Shape& shape, Exactly<DType> dtype = int64,
               Generator& generator = default_generator());
Tensor randint(std::int64_t high, const Shape& shape, const TensorOptions& options,
               Generator& generator = default_generator());
Tensor randint(std::int64_t high, const Shape& shape, Generator& generator);
///@}
/// Creates a random permutation of the integers from 0 to n - 1.
///
/// The result is 1-d and int64. No gradient.
///
/// Throws: ShapeError - n is negative
Tensor randperm(std::int64_t n, Generator& generator = default_generator());
/// Creates a tensor whose elements are 1 with the probability at the same index, and 0 otherwise.
///
/// The result has the shape and dtype of `probabilities`. The gradient of the probabilities is
/// zero.
///
/// Throws:
///   DTypeError - the probabilities are not floating
///   Error      - a probability is not in [0, 1]
Tensor bernoulli(const Tensor& probabilities, Generator& generator = default_generator());
/// Creates a tensor whose elements are 1 with probability p, and 0 otherwise.
///
/// The result has the shape and dtype of `like`. No gradient.
///
/// Throws: Error - p is not in [0, 1]
Tensor bernoulli(const Tensor& like, double p, Generator& generator = default_generator());
/// Chooses random categories, by the weights in each row.
///
/// Weights of shape (n) give a result of shape (samples), and weights (m, n) give (m, samples). The
/// weights are floating. The result has the indices of the categories, as int64. No gradient.
///
/// Throws:
///   DTypeError - the weights are not floating
///   Error      - a weight is negative or not finite, or too few weights are positive
///   ShapeError - the weights are not 1-d or 2-d, samples is less than 1, there are more than 2^24
///                categories, or there are more samples than categories without replacement
Tensor multinomial(const Tensor& weights, std::int64_t samples, Flag replacement = false,
                   Generator& generator = default_generator());

}  // namespace tend
