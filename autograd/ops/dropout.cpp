#include <tend/autograd/ops/dropout.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/dropout.h>
#include <tend/core/random/distributions.h>

namespace tend {

void check_dropout(const char* operation, double p) {
  if (!(p >= 0 && p <= 1)) fail(operation, "the probability of dropout is ", p, ", not in [0, 1]");
}

Array draw_kept(std::int64_t count, double p, Generator& generator) {
  Array bits = kernels::keep_bits_room(count);
  kernels::draw_keep_bits(reinterpret_cast<std::uint8_t*>(bits.data<std::int64_t>()), count, 1 - p,
                          generator);
  return bits;
}

double kept_factor(DType dtype, double p) {
  // PyTorch rounds 1 - p to the dtype before it divides.
  return dtype == float32 ? 1.0F / static_cast<float>(1 - p) : 1 / (1 - p);
}

namespace {

Array mul_in_order(const Array& a, const Array& bits, double factor, const Shape& order) {
  const Array in_order = a.permute(order).contiguous();
  const Array out = Array::empty(in_order.shape(), a.dtype());
  kernels::mul_kept(out, in_order, bits, factor);
  return out.permute(inverse_permutation(order));
}

}  // namespace

// The mask is a constant, so the derivative of the product with it is the same product again.
Tensor mul_kept(const Tensor& self, const Array& bits, double factor, const Shape& order) {
  Array out;
  if (order.empty()) {
    out = Array::empty(self.shape(), self.dtype());
    kernels::mul_kept(out, self.array().contiguous(), bits, factor);
  } else {
    out = mul_in_order(self.array(), bits, factor, order);
  }
  return record(
      // The bits are saved as a tensor, because checkpoint handles all saved tensors: it frees them
      // and generates them again, and throws if its second run does not save them.
      "MulBackward0", std::move(out), {self}, {Tensor(bits)},
      [factor, order](Derivative& d) {
        d.set(0, mul_kept(d.grad(), d.saved(0).array(), factor, order));
      },
      "dropout");
}

Tensor dropout(const Tensor& self, double p, Flag training, Generator& generator) {
  check_dropout("dropout", p);
  check_floating("dropout", self);
  if (!training || p == 0 || self.numel() == 0) return self;
  if (p == 1) return mul(self, 0);
  // As in PyTorch, random numbers go to the elements in memory order; MKL's go in row-major order.
  const bool is_row_major =
      self.is_contiguous() || generator.bernoulli_stream() == BernoulliStream::mkl;
  return mul_kept(self, draw_kept(self.numel(), p, generator), kept_factor(self.dtype(), p),
                  is_row_major ? Shape() : kernels::memory_order(Array::empty_like(self.array())));
}

}  // namespace tend
