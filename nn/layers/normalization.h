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

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions (torch.nn.LayerNorm).
///
/// The sizes of these dimensions are `normalized_shape`. The variance is the biased one. weight
/// starts as ones and bias as zeros. If `affine` is false, there is no weight and no bias. If
/// `with_bias` is false, there is no bias. Ba et al. 2016, https://arxiv.org/abs/1607.06450.
class LayerNorm : public Module<LayerNorm> {
 public:
  ///@{
  /// LayerNorm(shape), LayerNorm({4, 8}) or, for the last dimension only, LayerNorm(8).
  ///
  /// Throws: ShapeError - the shape is empty, or a size is negative
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

  /// The result has the shape of x.
  ///
  /// Throws: ShapeError - the last dimensions of x differ from normalized_shape
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Shape normalized_shape;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

/// The options of RMSNorm.
struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  ///< By default the machine epsilon of x's dtype.
  Flag elementwise_affine = true;
};

/// x / sqrt(mean(x^2) + eps) * weight over the last dimensions (torch.nn.RMSNorm).
///
/// The sizes of these dimensions are `normalized_shape`. By default, eps is the machine epsilon of
/// x's dtype. weight starts as ones. Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467.
class RMSNorm : public Module<RMSNorm> {
 public:
  ///@{
  /// RMSNorm(shape), RMSNorm({4, 8}) or, for the last dimension only, RMSNorm(8).
  ///
  /// Throws: ShapeError - the shape is empty, or a size is negative
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
  /// The same with options. O is always RMSNormOptions; the constructors are templates only so that
  /// an argument like {1e-6} is still read as an epsilon.
  template <std::same_as<RMSNormOptions> O = RMSNormOptions>
  RMSNorm(const Shape& shape, const O& options)
      : RMSNorm(shape, options.eps, options.elementwise_affine) {}
  template <std::same_as<RMSNormOptions> O = RMSNormOptions>
  RMSNorm(std::initializer_list<std::int64_t> sizes, const O& options)
      : RMSNorm(Shape(sizes), options) {}
  template <std::same_as<RMSNormOptions> O = RMSNormOptions>
  RMSNorm(std::int64_t size, const O& options) : RMSNorm(Shape(size), options) {}
  ///@}

  /// The result has the shape of x.
  ///
  /// Throws: ShapeError - the last dimensions of x differ from normalized_shape
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

/// (x - mean) / sqrt(var + eps) * weight + bias over each group of channels (torch.nn.GroupNorm).
///
/// x is (N, C) or (N, C, d1, ...), and its channels are in `num_groups` groups. The variance is the
/// biased one. weight (C) starts as ones, bias (C) as zeros. Wu and He 2018,
/// https://arxiv.org/abs/1803.08494.
class GroupNorm : public Module<GroupNorm> {
 public:
  /// A layer for num_channels channels.
  ///
  /// Throws: ShapeError - a number is below 1, or num_groups does not divide num_channels
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, double epsilon = 1e-5,
            Flag affine = true);
  GroupNorm(std::int64_t groups, std::int64_t channels, const GroupNormOptions& options)
      : GroupNorm(groups, channels, options.eps, options.affine) {}

  /// The result has the shape of x.
  ///
  /// Throws: ShapeError - x has fewer than 2 dimensions, or dimension 1 is not num_channels
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
  /// The weight of a new batch in the running statistics. With nullopt, all batches count equally.
  std::optional<double> momentum = 0.1;
  Flag affine = true;
  /// If false, there are no running statistics, and evaluation uses the batch's statistics, too.
  Flag track_running_stats = true;
};

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel of x (torch.nn.BatchNorm1d).
///
/// x is (N, C) or (N, C, L). Training uses the mean and variance of each channel over the batch,
/// and updates the running statistics. Evaluation uses the running statistics. weight starts as
/// ones and bias as zeros. Ioffe and Szegedy 2015, https://arxiv.org/abs/1502.03167.
class BatchNorm1d : public Module<BatchNorm1d> {
 public:
  /// A layer for num_features channels.
  ///
  /// Throws: ShapeError - num_features is below 1
  explicit BatchNorm1d(std::int64_t num_features, const BatchNorm1dOptions& options = {});

  /// The result has the shape of x.
  ///
  /// Throws:
  ///   ShapeError - x has neither two nor three dimensions
  ///   ShapeError - dimension 1 is not num_features, and there is a weight or running statistics
  ///   ShapeError - in training, x has only one value for each channel
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
