// Activations that are made of other operations: declared in activation.h.
#include <tend/autograd/ops/activation.h>

#include <tend/autograd/ops/helpers.h>

namespace tend {

Tensor relu6(const Tensor& self) try { return hardtanh(self, 0, 6); } catch (const Error&) {
  rename_error("relu6");
}
const Tensor& InPlace::relu6_() const {
  return update("relu6_", self(), tend::relu6);
}

Tensor prelu(const Tensor& self, const Tensor& weight) try {
  check_floating("prelu", self);
  check_one_dtype("prelu", self, weight);
  const std::int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  if (weight.dim() > 1 || (weight.numel() != 1 && weight.numel() != channels))
    fail<ShapeError>("prelu", "a weight ", weight.shape(), " for an input ", self.shape());
  Shape along = Shape::filled(self.shape().size(), 1);
  if (self.dim() > 1) along[1] = weight.numel();
  // 0 where the product is not used, which must not be infinite there.
  const Tensor positive = self > 0;
  return where(positive, self, reshape(weight, along) * masked_fill(self, positive, 0));
} catch (const Error&) {
  rename_error("prelu");
}

Tensor gumbel_softmax(const Tensor& self, double tau, Flag hard, double /*eps*/, std::int64_t dim,
                      Generator& generator) try {
  check_floating("gumbel_softmax", self);
  if (!(tau > 0)) fail("gumbel_softmax", "tau is ", tau, ", not a number above 0");
  wrap_dim("gumbel_softmax", dim, self.dim());
  const Tensor noise = -log(empty(self.shape(), self.dtype()).exponential_(1, generator));
  Tensor soft = softmax((self + noise) / tau, dim);
  if (!hard) return soft;
  const Tensor chosen = argmax(soft, dim, true);
  const Tensor one_hot = scatter(zeros_like(soft), dim, chosen, 1);
  return one_hot - soft.detach() + soft;
} catch (const Error&) {
  rename_error("gumbel_softmax");
}

}  // namespace tend
