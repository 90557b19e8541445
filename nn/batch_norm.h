// Batch normalisation.
#pragma once

#include <optional>

#include <tend/nn/module.h>

namespace tend::nn {

struct BatchNormSettings {
  double eps = 1e-5;
  /// The weight of a new batch in the running statistics; nullopt averages all batches alike.
  std::optional<double> momentum = 0.1;
  Flag affine = true;
  /// Without them the statistics are those of the batch always.
  Flag track_running_stats = true;
};

/// (x - mean) / sqrt(var + eps) * weight + bias for x (N, C) or (N, C, L): mean and variance of
/// each channel over the batch while training, which also updates the running statistics, and these
/// otherwise. weight starts as ones and bias as zeros (torch.nn.BatchNorm1d; Ioffe and Szegedy
/// 2015, https://arxiv.org/abs/1502.03167).
class BatchNorm1d : public Module<BatchNorm1d> {
 public:
  explicit BatchNorm1d(std::int64_t num_features, const BatchNormSettings& settings = {});

  /// Keeps the shape; ShapeError unless x has two or three dimensions, the second of num_features,
  /// and while training for a single value per channel.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  std::int64_t num_features;
  double eps;
  std::optional<double> momentum;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
  TEND_BUFFER(running_mean);
  TEND_BUFFER(running_var);
  TEND_BUFFER(num_batches_tracked);
};

}  // namespace tend::nn
