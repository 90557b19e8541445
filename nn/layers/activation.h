// Activations as modules; the functions of the same names have their formulas
// (autograd/ops/activation.h and math.h).
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/ops/activation.h>
#include <tend/autograd/ops/math.h>
#include <tend/core/array/print.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// max(x, 0).
class ReLU : public Module<ReLU> {
 public:
  Tensor forward(const Tensor& x) const { return relu(x); }
};

class Sigmoid : public Module<Sigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
};

class Tanh : public Module<Tanh> {
 public:
  Tensor forward(const Tensor& x) const { return tanh(x); }
};

class LogSigmoid : public Module<LogSigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return logsigmoid(x); }
};

class SiLU : public Module<SiLU> {
 public:
  Tensor forward(const Tensor& x) const { return silu(x); }
};

class Mish : public Module<Mish> {
 public:
  Tensor forward(const Tensor& x) const { return mish(x); }
};

class LeakyReLU : public Module<LeakyReLU> {
 public:
  explicit LeakyReLU(double slope = 0.01) : negative_slope(slope) {}

  Tensor forward(const Tensor& x) const { return leaky_relu(x, negative_slope); }
  std::string extra_repr() const override {
    return "negative_slope=" + python_repr(negative_slope);
  }

  double negative_slope;
};

class ELU : public Module<ELU> {
 public:
  explicit ELU(double scale = 1) : alpha(scale) {}

  Tensor forward(const Tensor& x) const { return elu(x, alpha); }
  std::string extra_repr() const override { return "alpha=" + python_repr(alpha); }

  double alpha;
};

class GLU : public Module<GLU> {
 public:
  explicit GLU(std::int64_t dimension = -1) : dim(dimension) {}

  Tensor forward(const Tensor& x) const { return glu(x, dim); }
  std::string extra_repr() const override { return "dim=" + std::to_string(dim); }

  std::int64_t dim;
};

/// x Phi(x), exactly or by the tanh approximation (Hendrycks and Gimpel 2016,
/// https://arxiv.org/abs/1606.08415).
class GELU : public Module<GELU> {
 public:
  explicit GELU(GeluKind approximation = GeluKind::exact) : approximate(approximation) {}

  Tensor forward(const Tensor& x) const { return gelu(x, approximate); }
  std::string extra_repr() const override {
    return approximate == GeluKind::exact ? "approximate='none'" : "approximate='tanh'";
  }

  GeluKind approximate;
};

}  // namespace tend::nn
