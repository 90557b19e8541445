#include <tend/attention/functions/rotary.h>

#include <tend/attention/functions/rotary_angles.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::attention {
namespace {

constexpr const char* kRotary = "rotary";

std::int64_t checked_dims(const Tensor& x, const RotaryOptions& options) {
  if (x.dim() < 2) fail<ShapeError>(kRotary, "x ", x.shape(), " needs two dimensions or more");
  if (!is_floating(x.dtype())) fail<DTypeError>(kRotary, "x is ", x.dtype(), ", not floating");
  const std::int64_t dims = options.dims.value_or(x.size(-1));
  if (dims < 2 || dims > x.size(-1) || dims % 2 != 0) {
    fail<ShapeError>(kRotary, "dims ", dims,
                     " must be an even number from 2 to the size of dimension -1 of ", x.shape());
  }
  return dims;
}

void check_positions(const Tensor& x, const Tensor& positions) {
  if (positions.dtype() == boolean) {
    fail<DTypeError>(kRotary, "positions are bool, not numbers");
  }
  Shape rows;
  for (std::int64_t d = 0; d + 1 < x.dim(); ++d) rows.push_back(x.size(d));
  if (!broadcasts_to(positions.shape(), rows)) {
    fail<ShapeError>(kRotary, "positions ", positions.shape(), " do not broadcast to ", rows,
                     ", the shape of x ", x.shape(), " without dimension -1");
  }
}

}  // namespace

Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options) {
  const std::int64_t dims = checked_dims(x, options);
  check_positions(x, positions);
  return rotated(x, rotary_angles(positions, dims, options, x.dtype()));
}

}  // namespace tend::attention
