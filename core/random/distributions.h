// Filling arrays with random numbers, as PyTorch's in-place functions do on the CPU.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>
#include <tend/core/random/random.h>

namespace tend::kernels {

// All functions leave `generator` where PyTorch 2.6 leaves its own, and give PyTorch's numbers bit
// for bit, except where noted and for the last bit of libm's functions, where libm differs. The
// elements are drawn in the order in which they lie in memory, which for a transposed array is not
// the order of its indices; an empty array draws nothing. `out` must not name one element twice
// (ShapeError). Arguments are checked before anything is drawn (Error).

/// The dimensions, the largest stride first: in an array that is permuted so, row-major order is
/// the order in memory.
Shape memory_order(const Array& a);

/// Uniform on [low, high) (rounding may give `high` itself); float32 or float64.
/// PyTorch: Tensor.uniform_.
void uniform(const Array& out, double low = 0.0, double high = 1.0,
             Generator& generator = default_generator());

/// From N(mean, std^2); float32 or float64. PyTorch: Tensor.normal_. float32 arrays that are
/// contiguous and have 16 elements or more are those of PyTorch's AVX2 build, bit for bit where the
/// processor has fused multiply-add, elsewhere within 1.2e-6 * std.
void normal(const Array& out, double mean = 0.0, double std = 1.0,
            Generator& generator = default_generator());

/// Whole numbers, uniform on [low, high), in any dtype that holds them all exactly. A range of 2^32
/// or more takes two words an element (in PyTorch 2.7 and later from 2^28 on).
/// PyTorch: torch.randint.
void randint(const Array& out, std::int64_t low, std::int64_t high,
             Generator& generator = default_generator());

/// A permutation of 0 ... n-1 in an int64 array of shape (n,). PyTorch: torch.randperm.
void randperm(const Array& out, Generator& generator = default_generator());

/// Each element 1 (true) with probability `p`, else 0; any dtype. The stream is the generator's
/// `bernoulli_stream()`; MKL's goes through the indices in row-major order, whatever the strides.
/// PyTorch: Tensor.bernoulli_(p).
void bernoulli(const Array& out, double p, Generator& generator = default_generator());

/// As above with a probability for each element: float32 or float64, broadcast to `out`.
/// PyTorch: Tensor.bernoulli_(p_tensor).
void bernoulli(const Array& out, const Array& p, Generator& generator = default_generator());

/// Exponential with rate `lambda` > 0; float32 or float64. PyTorch: Tensor.exponential_.
void exponential(const Array& out, double lambda = 1.0, Generator& generator = default_generator());

/// The mask of a dropout layer: true with `keep_probability`, which is 1 - p, into a bool array, in
/// row-major order whatever the strides. Probabilities 0 and 1 draw nothing, as PyTorch's dropout.
void draw_keep_mask(const Array& out, double keep_probability,
                    Generator& generator = default_generator());

/// The same draws for `count` elements as bits: that of element i is bit i % 8 of byte i / 8, and
/// the last byte is filled up with zeros. A mask must be drawn in one call, as the MKL stream
/// starts anew with each.
void draw_keep_bits(std::uint8_t* bits, std::int64_t count, double keep_probability,
                    Generator& generator = default_generator());

}  // namespace tend::kernels
