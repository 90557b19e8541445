#include <tend/nn/clip.h>

#include <algorithm>
#include <cmath>

#include <tend/core/kernels/arithmetic.h>
#include <tend/core/kernels/reduce.h>

namespace tend::nn {
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm) {
  if (!(max_norm >= 0)) fail("clip_grad_norm_", "max_norm must not be negative, got ", max_norm);
  double total = 0;
  for (const Tensor& parameter : parameters) {
    if (const Tensor gradient = parameter.grad(); gradient.defined())
      total += kernels::square_sum(gradient.array());
  }
  const double norm = std::sqrt(total);
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const Array& array = gradient.array();
    kernels::mul(array, array, Array::scalar(factor, array.dtype()));
    array.storage()->bump_version("clip_grad_norm_");
  }
  return norm;
}

}  // namespace tend::nn
