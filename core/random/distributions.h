// Functions that fill arrays with random numbers, as PyTorch's in-place functions do on the CPU.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>
#include <tend/core/random/random.h>

namespace tend::kernels {

// All functions give the same numbers as PyTorch 2.6, bit for bit, and leave `generator` in the
// same state. The comment of each function lists its exceptions. In addition, the last bit may
// differ if the program uses another libm than PyTorch.
//
// Elements receive their random numbers in the order in which the elements are in memory. For a
// transposed array, this is not the order of its indices. An empty array uses no random numbers.
//
// All functions check their arguments before they use the generator. They throw a ShapeError if two
// indices of `out` refer to the same element.

/// The dimensions of `a`, sorted by stride, the largest first. If `a` is permuted by them,
/// row-major order is the order in memory.
Shape memory_order(const Array& a);

/// Fills `out`, float32 or float64, with uniform random numbers in [low, high).
///
/// Because of rounding, a number may also be `high`. PyTorch: Tensor.uniform_.
///
/// Throws:
///   DTypeError - `out` is not float32 or float64
///   Error      - `low` is greater than `high`, or the dtype cannot represent the range
void uniform(const Array& out, double low = 0.0, double high = 1.0,
             Generator& generator = default_generator());

/// Fills `out`, float32 or float64, with random numbers from N(mean, std^2).
///
/// PyTorch: Tensor.normal_. For contiguous float32 arrays of 16 elements or more, the numbers are
/// the same as in PyTorch's AVX2 build. They are the same bit for bit if the processor has fused
/// multiply-add, and otherwise within 1.2e-6 * std.
///
/// Throws:
///   DTypeError - `out` is not float32 or float64
///   Error      - `std` is negative or NaN
void normal(const Array& out, double mean = 0.0, double std = 1.0,
            Generator& generator = default_generator());

/// Fills `out` with uniform whole numbers in [low, high).
///
/// For a range of 2^32 or more, each element uses two words of the generator. (PyTorch 2.7 and
/// later does so for a range of 2^28 or more.) PyTorch: torch.randint.
///
/// Throws: Error - `low` is not less than `high`, or the dtype of `out` cannot represent all of the
///                 numbers exactly
void randint(const Array& out, std::int64_t low, std::int64_t high,
             Generator& generator = default_generator());

/// Fills `out`, int64 of shape (n,), with a random permutation of 0 ... n-1. PyTorch:
/// torch.randperm.
///
/// Throws: ShapeError - `out` is not an int64 array with one dimension
void randperm(const Array& out, Generator& generator = default_generator());

/// Sets each element of `out` to 1 (true) with probability `p`, otherwise to 0. `out` may have any
/// dtype.
///
/// The generator's bernoulli_stream() selects the algorithm. MKL's algorithm fills the elements in
/// row-major order, for any strides. PyTorch: Tensor.bernoulli_(p).
///
/// Throws: Error - `p` is not in [0, 1]
void bernoulli(const Array& out, double p, Generator& generator = default_generator());

/// Sets each element of `out` to 1 (true) with its own probability in `p`, otherwise to 0. `p` is
/// float32 or float64, and is broadcast to `out`.
///
/// PyTorch: Tensor.bernoulli_(p_tensor).
///
/// Throws:
///   DTypeError - `p` is not float32 or float64
///   ShapeError - `p` does not broadcast to the shape of `out`
///   Error      - a probability is not in [0, 1]
void bernoulli(const Array& out, const Array& p, Generator& generator = default_generator());

/// Fills `out`, float32 or float64, with exponential random numbers of rate `lambda`.
///
/// PyTorch: Tensor.exponential_.
///
/// Throws:
///   DTypeError - `out` is not float32 or float64
///   Error      - `lambda` is not positive
void exponential(const Array& out, double lambda = 1.0, Generator& generator = default_generator());

/// Fills `out`, a bool array, with the mask of a dropout layer. An element is true with
/// `keep_probability`, which is 1 - p.
///
/// The elements are filled in row-major order, for any strides. For the probabilities 0 and 1, no
/// random numbers are used, as in PyTorch's dropout.
///
/// Throws:
///   DTypeError - `out` is not a bool array
///   Error      - `keep_probability` is not in [0, 1]
void draw_keep_mask(const Array& out, double keep_probability,
                    Generator& generator = default_generator());

/// Makes the same mask as draw_keep_mask for `count` elements, but with one bit for each element.
/// Element i is bit i % 8 of byte i / 8, and the unused bits of the last byte are zero.
///
/// The whole mask must be made in one call, because the MKL stream restarts in each call.
///
/// Throws: Error - `keep_probability` is not in [0, 1]
void draw_keep_bits(std::uint8_t* bits, std::int64_t count, double keep_probability,
                    Generator& generator = default_generator());

}  // namespace tend::kernels
