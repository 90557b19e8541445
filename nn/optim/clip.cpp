#include <tend/nn/optim/clip.h>

#include <algorithm>
#include <cmath>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend::nn {
namespace {

constexpr const char* kName = "clip_grad_norm_";

// The gradients of those parameters that have one; throws unless all may be written.
std::vector<Array> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Array> gradients;
  const NoGradGuard no_grad;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    check_own_grad_fits(kName, *parameter.impl());
    check_history_writable(kName, gradient);
    const Array& array = gradient.array();
    if (array.may_self_overlap()) {
      fail<ShapeError>(kName, "a gradient of shape ", array.shape(), " with strides ",
                       array.strides(), " names one element twice; set a clone of it");
    }
    gradients.push_back(array);
  }
  return gradients;
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm) {
  if (!(max_norm >= 0)) fail(kName, "max_norm must not be negative, got ", max_norm);
  const std::vector<Array> gradients = with_memory([&] { return gradients_of(parameters); });
  double total = 0;
  for (const Array& gradient : gradients) total += kernels::square_sum(gradient);
  const double norm = std::sqrt(total);
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;
  const Array factors[] = {Array::scalar(factor, float32), Array::scalar(factor, float64)};
  for (const Array& gradient : gradients) {
    kernels::mul(gradient, gradient, factors[gradient.dtype() == float64]);
    gradient.storage()->bump_version(kName);
  }
  return norm;
}

}  // namespace tend::nn
