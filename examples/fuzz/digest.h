// Tensors in a form that is compared with PyTorch's: projections instead of all elements.
#pragma once

#include <string>

#include <tend/tend.h>

namespace fuzz {

/// What a tensor comes to.
struct Digest {
  tend::Shape shape{0};  // as it is here, of no tensor
  std::string dtype = "none";
  double sum = 0;        // of all elements, each with a weight that depends on its place
  double magnitude = 0;  // the same of absolute values
};

/// Of an undefined tensor: the default.
Digest digest_of(const tend::Tensor& tensor);

/// Numbers in [-1, 1] that look random, as a tensor like `tensor`; torch_run.py has the same.
tend::Tensor weights_like(const tend::Tensor& tensor, std::int64_t which);

/// All elements, row-major.
std::vector<double> numbers(const tend::Tensor& tensor);

/// How far a sum may be from PyTorch's, as a share of the magnitude. A program over tensors is up
/// to 20 operations, and its second derivative several times as many, each of which may add
/// rounding errors of numbers up to 1e6 times as large as the result; a statement of a program over
/// leaves follows up to 40 others, with numbers up to 1e5.
double tolerance(bool single_precision);

/// "(2, 3)", a tuple in Python, for a shape.
std::string tuple(const tend::Shape& shape);

/// "torch.float64".
std::string dtype_text(tend::DType dtype);

/// A tensor without history of numbers in [low, high), whole ones for int64, drawn from `seed`.
tend::Tensor drawn(std::uint64_t seed, const tend::Shape& shape, tend::DType dtype, double low,
                   double high);

}  // namespace fuzz
