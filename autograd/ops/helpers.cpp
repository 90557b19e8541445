#include <tend/autograd/ops/helpers.h>

namespace tend {

void check_integer(const char* operation, DType dtype, const Scalar& number) {
  if (dtype != int64 || number.dtype() != float64) return;
  const double value = number.to<double>();
  if (!holds<std::int64_t>(value))
    fail<DTypeError>(operation, "int64 cannot hold the value ", value);
}

void check_holds(const char* operation, DType dtype, const Scalar& number) {
  check_integer(operation, dtype, number);
  if (dtype != float32 || number.dtype() != float64) return;
  const double value = number.to<double>();
  if (!holds<float>(value)) fail<DTypeError>(operation, "float32 cannot hold the value ", value);
}

void check_size(const char* operation, const Shape& shape, DType dtype) {
  for (const std::int64_t size : shape) {
    if (size < 0) fail<ShapeError>(operation, "negative size in ", shape);
  }
  std::int64_t bytes = item_size(dtype);
  bool overflows = false, empty = false;
  for (const std::int64_t size : shape) {
    overflows |= __builtin_mul_overflow(bytes, size, &bytes);
    empty |= size == 0;
  }
  if (overflows && !empty) {
    fail<OutOfMemoryError>(operation, shape, ' ', dtype,
                           " needs more bytes than an int64 can count");
  }
}

Scalar negative(const Scalar& number) noexcept {
  if (number.dtype() == float64) return -number.to<double>();
  return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(number.to<std::int64_t>()));
}

Tensor scaled(const Tensor& x, const Scalar& factor) {
  return factor.to<double>() == 1 ? x : x * factor;
}

Tensor restore_dims(const Tensor& reduced, const Shape& input, const Shape& dims) {
  return view(reduced, reduced_shape(input, dims, true));
}

Tensor scaled_distance(const Tensor& factor, const Tensor& x, const Tensor& middle) {
  const bool has_history = factor.requires_grad() || x.requires_grad() || middle.requires_grad();
  if (has_history && grad_enabled()) return factor * (x - middle);
  return computed(kernels::TripleFormula::scaled_distance, {}, x.dtype(), factor, x, middle);
}

Tensor reduce_losses(const Tensor& losses, Reduction reduction, std::optional<double> count) {
  switch (reduction) {
    case Reduction::none: return losses;
    case Reduction::sum: return sum(losses);
    case Reduction::mean: break;
  }
  return count ? sum(losses) / *count : mean(losses);
}

Tensor share_of_losses(const Tensor& grad, Reduction reduction, const Scalar& count) {
  return reduction == Reduction::mean ? grad / count : grad;
}

}  // namespace tend
