#include <tend/attention/functions/rotary_angles.h>

#include <cmath>
#include <numbers>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/kernels/attention/rotary.h>

namespace tend::attention {

void check_rotary_numbers(const char* operation, const RotaryOptions& options) {
  const auto is_positive = [](double number) { return number > 0 && std::isfinite(number); };
  if (!is_positive(options.theta)) {
    fail(operation, "theta must be positive and finite, got ", options.theta);
  }
  const RotaryScaling& scaling = options.scaling;
  if (!is_positive(scaling.factor) || scaling.original_context < 0) {
    fail(operation, "the scaling's factor must be positive and finite and its original_context ",
         "at least 0, got ", scaling.factor, " and ", scaling.original_context);
  }
  const double low = scaling.low_frequency, high = scaling.high_frequency;
  if (scaling.original_context > 0 && !(low < high && std::isfinite(high - low)))
    fail(operation, "low_frequency must be below high_frequency, and both finite, got ", low,
         " and ", high);
}

namespace {

// The angle by which each pair turns from one position to the next.
Tensor frequencies(std::int64_t dims, const RotaryOptions& options) {
  check_rotary_numbers("rotary", options);
  const RotaryScaling& scaling = options.scaling;
  const Tensor exponents = arange(0, dims, 2, float64) / static_cast<double>(dims);
  const Tensor plain = pow(options.theta, -exponents);
  if (scaling.original_context == 0) return plain / scaling.factor;
  const Tensor turns =
      plain * (static_cast<double>(scaling.original_context) / (2 * std::numbers::pi));
  // 0 for the pairs that are slowed down fully, 1 for the pairs that do not change.
  const Tensor kept = clamp(
      (turns - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency), 0.0, 1.0);
  return plain * (kept + (1 - kept) / scaling.factor);
}

}  // namespace

RotaryAngles rotary_angles(const Tensor& positions, std::int64_t dims, const RotaryOptions& options,
                           DType dtype) {
  const Tensor angles = positions.detach().to(float64).unsqueeze(-1) * frequencies(dims, options);
  return {cos(angles).to(dtype), sin(angles).to(dtype), options.interleaved};
}

Tensor rotated(const Tensor& x, const RotaryAngles& angles, bool inverse) {
  const Array rows = x.array().strides().back() == 1 ? x.array() : x.array().contiguous();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = angles.cosines.size(-1);
  Array out = Array::empty(x.shape(), x.dtype());
  kernels::rotate_pairs(out, rows, angles.cosines.array().expand(shape),
                        angles.sines.array().expand(shape), angles.interleaved, inverse);
  return record(
      "RotaryBackward", std::move(out), {x}, {angles.cosines, angles.sines},
      [interleaved = angles.interleaved, inverse](Derivative& d) {
        d.set(0, rotated(d.grad(), {d.saved(0), d.saved(1), interleaved}, !inverse));
      },
      "rotary");
}

}  // namespace tend::attention
