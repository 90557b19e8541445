#include <tend/attention/models/block_norm.h>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/normalization.h>
#include <tend/core/array/print.h>
#include <tend/nn/module/hook_point.h>

namespace tend::attention {
namespace {

// Hooks receive the number that x is divided by, (..., 1), and the result.
constexpr nn::HookPoint kScale("hook_scale"), kNormalized("hook_normalized");

}  // namespace

Norm::Norm(NormKind norm, std::int64_t size, double epsilon, Flag with_bias)
    : kind(norm), eps(epsilon) {
  if (kind != NormKind::none) weight = nn::Parameter(ones({size}));
  if (kind == NormKind::layer && with_bias) bias = nn::Parameter(zeros({size}));
}

Tensor Norm::forward(const Tensor& x) const {
  if (kind == NormKind::none) return x;
  if (kScale.is_heard()) return kNormalized(forward_by_scale(x));
  if (kind == NormKind::rms) return kNormalized(rms_norm(x, weight.shape(), weight, eps));
  return kNormalized(layer_norm(x, weight.shape(), weight, bias, eps));
}

Tensor Norm::forward_by_scale(const Tensor& x) const {
  const Tensor centred = kind == NormKind::layer ? x - x.mean({-1}, true) : x;
  const Tensor scale = kScale(sqrt(square(centred).mean({-1}, true) + eps));
  const Tensor y = centred / scale * weight;
  return bias.defined() ? y + bias : y;
}

std::string Norm::extra_repr() const {
  if (kind == NormKind::none) return "none";
  return as_text(kind == NormKind::rms ? "rms, " : "layer, ", weight.shape(), ", eps=") +
         python_repr(eps);
}

}  // namespace tend::attention
