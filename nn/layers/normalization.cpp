#include <tend/nn/layers/normalization.h>

#include <tend/autograd/ops/ops.h>
#include <tend/core/array/print.h>

namespace tend::nn {

LayerNorm::LayerNorm(const Shape& shape, double epsilon, Flag affine, Flag with_bias)
    : normalized_shape(shape), eps(epsilon) {
  if (shape.empty()) fail<ShapeError>("LayerNorm", "normalized_shape must not be empty");
  if (!affine) return;
  weight = Parameter(ones(shape));
  if (with_bias) bias = Parameter(zeros(shape));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  return layer_norm(x, normalized_shape, weight, bias, eps);
}

std::string LayerNorm::extra_repr() const {
  return as_text(normalized_shape, ", eps=") + python_repr(eps) +
         ", elementwise_affine=" + (weight.defined() ? "True" : "False");
}

RMSNorm::RMSNorm(const Shape& shape, std::optional<double> epsilon, Flag affine)
    : normalized_shape(shape), eps(epsilon) {
  if (shape.empty()) fail<ShapeError>("RMSNorm", "normalized_shape must not be empty");
  if (affine) weight = Parameter(ones(shape));
}

Tensor RMSNorm::forward(const Tensor& x) const {
  return rms_norm(x, normalized_shape, weight, eps);
}

std::string RMSNorm::extra_repr() const {
  return as_text(normalized_shape, ", eps=") + (eps ? python_repr(*eps) : "None") +
         ", elementwise_affine=" + (weight.defined() ? "True" : "False");
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double epsilon, Flag affine)
    : num_groups(groups), num_channels(channels), eps(epsilon) {
  if (groups < 1 || channels < 1 || channels % groups != 0) {
    fail<ShapeError>("GroupNorm", "num_groups must be at least 1 and divide num_channels, got ",
                     groups, " groups and ", channels, " channels");
  }
  if (!affine) return;
  weight = Parameter(ones({channels}));
  bias = Parameter(zeros({channels}));
}

Tensor GroupNorm::forward(const Tensor& x) const {
  if (x.dim() < 2 || x.size(1) != num_channels) {
    fail<ShapeError>("GroupNorm", "dimension 1 of the input must have size ", num_channels,
                     ", got ", x.shape());
  }
  return group_norm(x, num_groups, weight, bias, eps);
}

std::string GroupNorm::extra_repr() const {
  return as_text(num_groups, ", ", num_channels, ", eps=") + python_repr(eps) +
         ", affine=" + (weight.defined() ? "True" : "False");
}

BatchNorm1d::BatchNorm1d(std::int64_t features, const BatchNorm1dOptions& options)
    : num_features(features), eps(options.eps), momentum(options.momentum) {
  if (features < 1)
    fail<ShapeError>("BatchNorm1d", "num_features must be at least 1, got ", features);
  if (options.affine) {
    weight = Parameter(ones({features}));
    bias = Parameter(zeros({features}));
  }
  if (!options.track_running_stats) return;
  running_mean = zeros({features});
  running_var = ones({features});
  num_batches_tracked = zeros({}, int64);
}

Tensor BatchNorm1d::forward(const Tensor& x) const {
  if (x.dim() != 2 && x.dim() != 3) {
    fail<ShapeError>("BatchNorm1d", "the input must have 2 or 3 dimensions, got ", x.shape());
  }
  const bool tracked = running_mean.defined();
  const bool updates = is_training() && tracked;
  const double share = momentum  ? *momentum
                       : updates ? 1 / (num_batches_tracked.item<double>() + 1)
                                 : 0.0;
  Tensor normal =
      batch_norm(x, running_mean, running_var, weight, bias,
                 {.training = is_training() || !tracked, .momentum = share, .eps = eps});
  if (updates) num_batches_tracked.add_(1);
  return normal;
}

std::string BatchNorm1d::extra_repr() const {
  return as_text(num_features, ", eps=") + python_repr(eps) +
         ", momentum=" + (momentum ? python_repr(*momentum) : "None") +
         ", affine=" + (weight.defined() ? "True" : "False") +
         ", track_running_stats=" + (running_mean.defined() ? "True" : "False");
}

}  // namespace tend::nn
