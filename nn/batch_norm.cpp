#include <tend/nn/batch_norm.h>

#include <tend/autograd/ops.h>
#include <tend/core/print.h>

namespace tend::nn {

BatchNorm1d::BatchNorm1d(std::int64_t features, const BatchNormSettings& settings)
    : num_features(features), eps(settings.eps), momentum(settings.momentum) {
  if (features < 1) fail<ShapeError>("BatchNorm1d", "num_features ", features, " is no size");
  if (settings.affine) {
    weight = Parameter(ones({features}));
    bias = Parameter(zeros({features}));
  }
  if (!settings.track_running_stats) return;
  running_mean = zeros({features});
  running_var = ones({features});
  num_batches_tracked = zeros({}, int64);
}

Tensor BatchNorm1d::forward(const Tensor& x) const {
  if (x.dim() != 2 && x.dim() != 3) {
    fail<ShapeError>("BatchNorm1d", "input ", x.shape(), " has neither 2 nor 3 dimensions");
  }
  const bool tracked = running_mean.defined();
  const bool updates = is_training() && tracked;
  // Made before anything changes.
  const Array next_count = updates ? (num_batches_tracked.detach() + 1).array() : Array();
  const double share = momentum  ? *momentum
                       : updates ? 1 / static_cast<double>(next_count.item<std::int64_t>())
                                 : 0.0;
  Tensor normal =
      batch_norm(x, running_mean, running_var, weight, bias,
                 {.training = is_training() || !tracked, .momentum = share, .eps = eps});
  if (updates) {
    num_batches_tracked.array().copy_from(next_count);
    num_batches_tracked.array().storage()->bump_version("BatchNorm1d");
  }
  return normal;
}

std::string BatchNorm1d::extra_repr() const {
  return concat(num_features, ", eps=") + python_repr(eps) +
         ", momentum=" + (momentum ? python_repr(*momentum) : "None") +
         ", affine=" + (weight.defined() ? "True" : "False") +
         ", track_running_stats=" + (running_mean.defined() ? "True" : "False");
}

}  // namespace tend::nn
