#include <tend/core/kernels/elementwise/activation.h>

#include <tend/core/kernels/elementwise/formulas.h>

namespace tend::kernels {

void leaky_relu(const Array& out, const Array& x, double slope) {
  compute("leaky_relu", Formula::leaky_relu, {slope}, out, x);
}

void elu(const Array& out, const Array& x, double alpha, double scale, double input_scale) {
  compute("elu", Formula::elu, {alpha * scale, input_scale, scale}, out, x);
}

void softplus(const Array& out, const Array& x, double beta, double threshold) {
  compute("softplus", Formula::softplus, {beta, threshold}, out, x);
}

void logsigmoid(const Array& out, const Array& x) {
  compute("logsigmoid", Formula::logsigmoid, {}, out, x);
}

void mish(const Array& out, const Array& x) {
  compute("mish", Formula::mish, {}, out, x);
}

}  // namespace tend::kernels
