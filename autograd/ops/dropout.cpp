#include <tend/autograd/ops/dropout.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/distributions.h>
#include <tend/core/kernels/select.h>

namespace tend {

// The derivative is that of the product with the mask, which is a constant.
Tensor dropout(const Tensor& self, double p, bool training, Generator& generator) {
  if (!(p >= 0 && p <= 1)) fail("dropout", "the probability is ", p, ", not in [0, 1]");
  const DType dtype = self.dtype();
  if (!is_floating(dtype)) fail<DTypeError>("dropout", "needs float32 or float64, got ", dtype);
  if (!training || p == 0 || self.numel() == 0) return self;
  if (p == 1) return mul(self, 0);
  const Array kept = Array::empty(self.shape(), boolean);
  kernels::draw_keep_mask(kept, 1 - p, generator);
  // PyTorch rounds 1 - p to the dtype before it divides.
  const double factor = dtype == float32 ? 1.0F / static_cast<float>(1 - p) : 1 / (1 - p);
  Array mask = Array::empty(self.shape(), dtype);
  kernels::where(mask, kept, Array::scalar(factor, dtype), Array::scalar(0, dtype));
  return mul(self, Tensor(std::move(mask)));
}

}  // namespace tend
