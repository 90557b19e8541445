// The nonlinearities of networks; tanh and sigmoid stand in math.h.
#pragma once

#include <cstdint>

#include <tend/core/array.h>

namespace tend {

class Tensor;

/// max(self, 0), with gradient 0 at 0; NaN stays NaN. int64 too; DTypeError for bool.
Tensor relu(const Tensor& self);

enum class GeluKind { exact, tanh };

/// x Phi(x), Phi the normal distribution function; or, of kind tanh, the approximation
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Floating only (DTypeError). Hendrycks and
/// Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
Tensor gelu(const Tensor& self, GeluKind kind = GeluKind::exact);

// Along `dim`, which may count from the end (IndexError); floating only (DTypeError).

/// exp(self) over its sum. As in PyTorch NaN where everything is -inf, or anything NaN or +inf.
Tensor softmax(const Tensor& self, std::int64_t dim);
/// The logarithm of softmax, computed without its underflow.
Tensor log_softmax(const Tensor& self, std::int64_t dim);

}  // namespace tend
