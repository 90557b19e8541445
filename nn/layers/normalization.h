// Layers that normalise.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// The options of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;
  Flag elementwise_affine = true;
  Flag bias = true;
};

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, whose sizes are
/// `normalized_shape`; the variance is the biased one. weight starts as ones and bias as zeros;
/// there is neither unless `affine`, and no bias unless `with_bias` (torch.nn.LayerNorm; Ba et al.
/// 2016, https://arxiv.org/abs/1607.06450).
class LayerNorm : public Module<LayerNorm> {
 public:
  ///@{
  /// LayerNorm(shape), LayerNorm({4, 8}) or, for the last dimension only, LayerNorm(8).
  explicit LayerNorm(const Shape& normalized_shape, double epsilon = 1e-5, Flag affine = true,
                     Flag with_bias = true);
  explicit LayerNorm(std::initializer_list<std::int64_t> sizes, double epsilon = 1e-5,
                     Flag affine = true, Flag with_bias = true)
      : LayerNorm(Shape(sizes), epsilon, affine, with_bias) {}
  explicit LayerNorm(std::int64_t size, double epsilon = 1e-5, Flag affine = true,
                     Flag with_bias = true)
      : LayerNorm(Shape(size), epsilon, affine, with_bias) {}
  ///@}
  ///@{
  /// The same with options, as PyTorch names them.
  LayerNorm(const Shape& shape, const LayerNormOptions& options)
      : LayerNorm(shape, options.eps, options.elementwise_affine, options.bias) {}
  LayerNorm(std::initializer_list<std::int64_t> sizes, const LayerNormOptions& options)
      : LayerNorm(Shape(sizes), options) {}
  LayerNorm(std::int64_t size, const LayerNormOptions& options) : LayerNorm(Shape(size), options) {}
  ///@}

  /// Keeps the shape; ShapeError when the last dimensions differ from normalized_shape.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Shape normalized_shape;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

/// The options of RMSNorm.
struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  ///< the dtype's machine epsilon unless given
  Flag elementwise_affine = true;
};

/// x / sqrt(mean(x^2) + eps) * weight over the last dimensions, whose sizes are `normalized_shape`;
/// eps is the machine epsilon of x's dtype unless given. weight starts as ones (torch.nn.RMSNorm;
/// Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467).
class RMSNorm : public Module<RMSNorm> {
 public:
  ///@{
  /// RMSNorm(shape), RMSNorm({4, 8}) or, for the last dimension only, RMSNorm(8).
  explicit RMSNorm(const Shape& normalized_shape, std::optional<double> epsilon = std::nullopt,
                   Flag affine = true);
  explicit RMSNorm(std::initializer_list<std::int64_t> sizes,
                   std::optional<double> epsilon = std::nullopt, Flag affine = true)
      : RMSNorm(Shape(sizes), epsilon, affine) {}
  explicit RMSNorm(std::int64_t size, std::optional<double> epsilon = std::nullopt,
                   Flag affine = true)
      : RMSNorm(Shape(size), epsilon, affine) {}
  ///@}
  ///@{
  /// The same with options. O is RMSNormOptions: a template, so that other braces are still an
  /// epsilon.
  template <std::same_as<RMSNormOptions> O = RMSNormOptions>
  RMSNorm(const Shape& shape, const O& options)
      : RMSNorm(shape, options.eps, options.elementwise_affine) {}
  template <std::same_as<RMSNormOptions> O = RMSNormOptions>
  RMSNorm(std::initializer_list<std::int64_t> sizes, const O& options)
      : RMSNorm(Shape(sizes), options) {}
  template <std::same_as<RMSNormOptions> O = RMSNormOptions>
  RMSNorm(std::int64_t size, const O& options) : RMSNorm(Shape(size), options) {}
  ///@}

  /// Keeps the shape; ShapeError when the last dimensions differ from normalized_shape.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Shape normalized_shape;
  std::optional<double> eps;
  TEND_PARAMETER(weight);
};

/// The options of GroupNorm.
struct GroupNormOptions {
  double eps = 1e-5;
  Flag affine = true;
};

/// (x - mean) / sqrt(var + eps) * weight + bias for x (N, C) or (N, C, d1, ...), over each of
/// `num_groups` groups of channels; the variance is the biased one. weight (C) starts as ones and
/// bias as zeros (torch.nn.GroupNorm; Wu and He 2018, https://arxiv.org/abs/1803.08494).
class GroupNorm : public Module<GroupNorm> {
 public:
  /// ShapeError unless num_groups divides num_channels.
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, double epsilon = 1e-5,
            Flag affine = true);
  GroupNorm(std::int64_t groups, std::int64_t channels, const GroupNormOptions& options)
      : GroupNorm(groups, channels, options.eps, options.affine) {}

  /// Keeps the shape; ShapeError when dimension 1 is not num_channels.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  std::int64_t num_groups;
  std::int64_t num_channels;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

/// The options of BatchNorm1d.
struct BatchNorm1dOptions {
  double eps = 1e-5;
  /// The weight of a new batch in the running statistics; nullopt averages all batches alike.
  std::optional<double> momentum = 0.1;
  Flag affine = true;
  /// Without running statistics, those of the batch are used in evaluation, too.
  Flag track_running_stats = true;
};

/// (x - mean) / sqrt(var + eps) * weight + bias for x (N, C) or (N, C, L): with the mean and
/// variance of each channel over the batch in training, which also updates the running statistics,
/// and with the running statistics in evaluation. weight starts as ones and bias as zeros
/// (torch.nn.BatchNorm1d; Ioffe and Szegedy 2015, https://arxiv.org/abs/1502.03167).
class BatchNorm1d : public Module<BatchNorm1d> {
 public:
  explicit BatchNorm1d(std::int64_t num_features, const BatchNorm1dOptions& options = {});

  /// Keeps the shape; ShapeError unless x has two or three dimensions, the second of size
  /// num_features (unchecked without weight and statistics), and, in training, more than one value
  /// per channel.
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
