#include <tend/nn/optim/clip.h>

#include <cmath>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/reduce.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend::nn {
namespace {

// All gradients that have elements. Throws if a gradient cannot be written to.
std::vector<Array> gradients_of(const char* operation, const std::vector<Tensor>& parameters) {
  std::vector<Array> gradients;
  const NoGradGuard no_grad;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    check_own_grad_fits(operation, *parameter.impl());
    check_writable(operation, gradient);
    if (gradient.numel() > 0) gradients.push_back(gradient.array());
  }
  return gradients;
}

double norm_of(const std::vector<Array>& gradients, double order) {
  if (gradients.empty()) return 0;
  if (order == 2) {
    double total = 0;
    for (const Array& gradient : gradients) total += kernels::square_sum(gradient);
    return std::sqrt(total);
  }
  const NoGradGuard no_grad;
  std::vector<double> norms;
  for (const Array& gradient : gradients)
    norms.push_back(norm(Tensor(gradient), order).item<double>());
  return norm(tensor(norms, float64), order).item<double>();
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       const ClipGradNormOptions& options) {
  constexpr const char* kName = "clip_grad_norm_";
  if (!(max_norm >= 0)) fail(kName, "max_norm must not be negative, got ", max_norm);
  if (std::isnan(options.norm_type)) fail(kName, "norm_type is nan");
  const std::vector<Array> gradients = gradients_of(kName, parameters);
  const double norm = norm_of(gradients, options.norm_type);
  if (options.error_if_nonfinite && !std::isfinite(norm))
    fail(kName, "the norm of order ", options.norm_type, " is ", norm, ", not finite");
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;
  const Array factors[] = {Array::scalar(factor, float32), Array::scalar(factor, float64)};
  for (const Array& gradient : gradients) {
    kernels::mul(gradient, gradient, factors[gradient.dtype() == float64]);
    gradient.storage()->bump_version(kName);
  }
  return norm;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  constexpr const char* kName = "clip_grad_value_";
  if (!(clip_value >= 0)) fail(kName, "clip_value must not be negative, got ", clip_value);
  for (const Array& gradient : gradients_of(kName, parameters)) {
    kernels::clamp(gradient, gradient, Scalar(-clip_value), Scalar(clip_value));
    gradient.storage()->bump_version(kName);
  }
}

}  // namespace tend::nn
