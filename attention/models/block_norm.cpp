#include <tend/attention/models/block_norm.h>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/normalization.h>
#include <tend/core/array/print.h>

namespace tend::attention {

Norm::Norm(NormKind norm, std::int64_t size, double epsilon, Flag with_bias)
    : kind(norm), eps(epsilon), weight(nn::Parameter(ones({size}))) {
  if (kind == NormKind::layer && with_bias) bias = nn::Parameter(zeros({size}));
}

Tensor Norm::forward(const Tensor& x) const {
  if (kind == NormKind::rms) return rms_norm(x, weight.shape(), weight, eps);
  return layer_norm(x, weight.shape(), weight, bias, eps);
}

std::string Norm::extra_repr() const {
  return as_text(kind == NormKind::rms ? "rms, " : "layer, ", weight.shape(), ", eps=") +
         python_repr(eps);
}

}  // namespace tend::attention
