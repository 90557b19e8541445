#include <tend/nn/layer_norm.h>

#include <tend/autograd/ops.h>
#include <tend/core/print.h>

namespace tend::nn {

LayerNorm::LayerNorm(const Shape& shape, double epsilon, Flag affine)
    : normalized_shape(shape), eps(epsilon) {
  if (shape.empty()) fail<ShapeError>("LayerNorm", "normalized_shape must name a dimension");
  if (!affine) return;
  weight = Parameter(ones(shape));
  bias = Parameter(zeros(shape));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  return layer_norm(x, normalized_shape, weight, bias, eps);
}

std::string LayerNorm::extra_repr() const {
  return concat(normalized_shape, ", eps=") + python_repr(eps) +
         ", elementwise_affine=" + (weight.defined() ? "True" : "False");
}

}  // namespace tend::nn
