#include <tend/core/kernels/elementwise/activation.h>

#include <cmath>

#include <tend/core/kernels/elementwise/map_spans.h>

namespace tend::kernels {

void leaky_relu(const Array& out, const Array& x, double slope) {
  map_floating_spans("leaky_relu", Activation{Nonlinearity::leaky_relu, {slope}}, out, x);
}

void elu(const Array& out, const Array& x, double alpha) {
  map_floating_spans("elu", Activation{Nonlinearity::elu, {alpha}}, out, x);
}

void softplus(const Array& out, const Array& x, double beta, double threshold) {
  map_floating_spans("softplus", Activation{Nonlinearity::softplus, {beta, threshold}}, out, x);
}

void logsigmoid(const Array& out, const Array& x) {
  map_floating_spans("logsigmoid", Activation{Nonlinearity::logsigmoid}, out, x);
}

void mish(const Array& out, const Array& x) {
  map_floating_spans("mish", Activation{Nonlinearity::mish}, out, x);
}

void huber(const Array& out, const Array& x, double delta) {
  map_floating("huber", out, x, [delta]<class T>(T d) {
    const T size = std::abs(d), bound = static_cast<T>(delta);
    const T near = size * size * T(0.5), far = (size - bound / 2) * bound;
    return size <= bound ? near : far;
  });
}

void smooth_l1(const Array& out, const Array& x, double beta) {
  map_floating("smooth_l1", out, x, [beta]<class T>(T d) {
    const T size = std::abs(d), bound = static_cast<T>(beta);
    const T near = T(0.5) * size * size / bound, far = size - bound / 2;
    return size < bound ? near : far;
  });
}

}  // namespace tend::kernels
