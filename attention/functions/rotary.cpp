#include <tend/attention/functions/rotary.h>

#include <cmath>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/kernels/attention/rotary.h>

namespace tend::attention {
namespace {

constexpr const char* kName = "rotary";

std::int64_t checked_dims(const Tensor& x, const RotaryOptions& options) {
  if (x.dim() < 2) fail<ShapeError>(kName, "x ", x.shape(), " needs two dimensions or more");
  if (!is_floating(x.dtype())) fail<DTypeError>(kName, "x is ", x.dtype(), ", not floating");
  const std::int64_t dims = options.dims.value_or(x.size(-1));
  if (dims < 2 || dims > x.size(-1) || dims % 2 != 0) {
    fail<ShapeError>(kName, dims,
                     " dims to turn must be an even number from 2 to the size of "
                     "dimension -1 of ",
                     x.shape());
  }
  return dims;
}

void check_positions(const Tensor& x, const Tensor& positions) {
  if (positions.dtype() == boolean) {
    fail<DTypeError>(kName, "positions are bool, not numbers");
  }
  Shape rows;
  for (std::int64_t d = 0; d + 1 < x.dim(); ++d) rows.push_back(x.size(d));
  if (!broadcasts_to(positions.shape(), rows)) {
    fail<ShapeError>(kName, "positions ", positions.shape(), " do not broadcast to ", rows,
                     ", the rows of x ", x.shape());
  }
}

// Cosines and sines of the angles, (..., pairs) for positions (...).
struct Angles {
  Tensor cosines, sines;
};

Angles angles_of(const Tensor& positions, std::int64_t dims, double theta, DType dtype) {
  const Tensor exponents = arange(0, dims, 2, float64) / static_cast<double>(dims);
  const Tensor angles = positions.detach().to(float64).unsqueeze(-1) * pow(theta, -exponents);
  return {cos(angles).to(dtype), sin(angles).to(dtype)};
}

Tensor turned(const Tensor& x, const Angles& angles, bool interleaved, bool inverse) {
  const Array rows = x.array().strides().back() == 1 ? x.array() : x.array().contiguous();
  Shape shape = x.shape();
  shape[shape.rank() - 1] = angles.cosines.size(-1);
  Array out = Array::empty(x.shape(), x.dtype());
  kernels::rotate_pairs(out, rows, angles.cosines.array().expand(shape),
                        angles.sines.array().expand(shape), interleaved, inverse);
  return record(
      "RotaryBackward", std::move(out), {x}, {angles.cosines, angles.sines},
      [interleaved, inverse](Derivative& d) {
        d.set(0, turned(d.grad(), {d.saved(0), d.saved(1)}, interleaved, !inverse));
      },
      kName);
}

}  // namespace

Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options) {
  const std::int64_t dims = checked_dims(x, options);
  check_positions(x, positions);
  if (!(options.theta > 0)) fail(kName, "theta must be positive, got ", options.theta);
  return turned(x, angles_of(positions, dims, options.theta, x.dtype()), options.interleaved,
                false);
}

}  // namespace tend::attention
