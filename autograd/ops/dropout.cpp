#include <tend/autograd/ops/dropout.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/distributions.h>
#include <tend/core/kernels/dropout.h>

namespace tend {
namespace {

// The product with the mask, a constant, so the derivative is the same product again.
Tensor mul_kept(const Tensor& self, const Array& bits, double factor) {
  Array out = Array::empty(self.shape(), self.dtype());
  kernels::mul_kept(out, self.array().contiguous(), bits, factor);
  return record("MulBackward0", std::move(out), {self}, {},
                [bits, factor](Derivative& d) { d.set(0, mul_kept(d.grad(), bits, factor)); });
}

}  // namespace

Tensor dropout(const Tensor& self, double p, bool training, Generator& generator) {
  if (!(p >= 0 && p <= 1)) fail("dropout", "the probability is ", p, ", not in [0, 1]");
  const DType dtype = self.dtype();
  if (!is_floating(dtype)) fail<DTypeError>("dropout", "needs float32 or float64, got ", dtype);
  if (!training || p == 0 || self.numel() == 0) return self;
  if (p == 1) return mul(self, 0);
  const Array bits = kernels::keep_bits_room(self.numel());
  kernels::draw_keep_bits(reinterpret_cast<std::uint8_t*>(bits.data<std::int64_t>()), self.numel(),
                          1 - p, generator);
  // PyTorch rounds 1 - p to the dtype before it divides.
  const double factor = dtype == float32 ? 1.0F / static_cast<float>(1 - p) : 1 / (1 - p);
  return mul_kept(self, bits, factor);
}

}  // namespace tend
