// Group normalisation.
#pragma once

#include <tend/nn/module.h>

namespace tend::nn {

/// (x - mean) / sqrt(var + eps) * weight + bias for x (N, C) or (N, C, d1, ...), over each of
/// `num_groups` groups of channels; the variance is the biased one. weight (C) starts as ones and
/// bias as zeros (torch.nn.GroupNorm; Wu and He 2018, https://arxiv.org/abs/1803.08494).
class GroupNorm : public Module<GroupNorm> {
 public:
  /// ShapeError unless num_groups divides num_channels.
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, double epsilon = 1e-5,
            Flag affine = true);

  /// Keeps the shape; ShapeError when dimension 1 is not num_channels.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  std::int64_t num_groups;
  std::int64_t num_channels;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

}  // namespace tend::nn
