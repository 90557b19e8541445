#include <tend/nn/rms_norm.h>

#include <tend/autograd/ops.h>
#include <tend/core/print.h>

namespace tend::nn {

RMSNorm::RMSNorm(const Shape& shape, std::optional<double> epsilon, Flag affine)
    : normalized_shape(shape), eps(epsilon) {
  if (shape.empty()) fail<ShapeError>("RMSNorm", "normalized_shape must name a dimension");
  if (affine) weight = Parameter(ones(shape));
}

Tensor RMSNorm::forward(const Tensor& x) const {
  return rms_norm(x, normalized_shape, weight, eps);
}

std::string RMSNorm::extra_repr() const {
  return concat(normalized_shape, ", eps=") + (eps ? python_repr(*eps) : "None") +
         ", elementwise_affine=" + (weight.defined() ? "True" : "False");
}

}  // namespace tend::nn
