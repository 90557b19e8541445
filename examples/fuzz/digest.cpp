#include "digest.h"

#include <cmath>

#include "dice.h"

using namespace tend;

namespace fuzz {
namespace {

double weight(std::int64_t place, std::int64_t which) {
  return static_cast<double>((place * 7919 + which * 104729 + 17) % 201 - 100) / 100;
}

}  // namespace

std::vector<double> numbers(const Tensor& tensor) {
  return tensor.detach().to(float64).to_vector<double>();
}

Digest digest_of(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  Digest digest{tensor.shape(), std::string(dtype_name(tensor.dtype())), 0, 0};
  const std::vector<double> all = numbers(tensor);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double term = all[i] * (1 + weight(static_cast<std::int64_t>(i), 1000) / 2);
    digest.sum += term;
    digest.magnitude += std::fabs(term);
  }
  return digest;
}

Tensor weights_like(const Tensor& tensor, std::int64_t which) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers.push_back(weight(i, which));
  return Tensor(Array::from<double>(numbers, tensor.shape()).to(tensor.dtype()));
}

double tolerance(bool single_precision) {
  return single_precision ? 2e-3 : 1e-9;
}

std::string tuple(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += as_text(size, ", ");
  return text + ")";
}

std::string dtype_text(DType dtype) {
  return as_text("torch.", dtype_name(dtype));
}

Tensor drawn(std::uint64_t seed, const Shape& shape, DType dtype, double low, double high) {
  Dice draw(seed);
  std::vector<double> elements;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const double number = low + (high - low) * draw.uniform();
    elements.push_back(dtype == int64 ? std::floor(number) : number);
  }
  return Tensor(Array::from<double>(elements, shape).to(dtype));
}

}  // namespace fuzz
