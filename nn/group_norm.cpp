#include <tend/nn/group_norm.h>

#include <tend/autograd/ops.h>
#include <tend/core/print.h>

namespace tend::nn {

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double epsilon, Flag affine)
    : num_groups(groups), num_channels(channels), eps(epsilon) {
  if (groups < 1 || channels < 1 || channels % groups != 0) {
    fail<ShapeError>("GroupNorm", groups, " groups do not divide ", channels, " channels");
  }
  if (!affine) return;
  weight = Parameter(ones({channels}));
  bias = Parameter(zeros({channels}));
}

Tensor GroupNorm::forward(const Tensor& x) const {
  if (x.dim() < 2 || x.size(1) != num_channels) {
    fail<ShapeError>("GroupNorm", "input ", x.shape(), " for ", num_channels, " channels");
  }
  return group_norm(x, num_groups, weight, bias, eps);
}

std::string GroupNorm::extra_repr() const {
  return concat(num_groups, ", ", num_channels, ", eps=") + python_repr(eps) +
         ", affine=" + (weight.defined() ? "True" : "False");
}

}  // namespace tend::nn
