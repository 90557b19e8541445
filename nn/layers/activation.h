// Activations as modules. The docstrings of the functions with the same names give the formulas
// (autograd/ops/activation.h and math.h).
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/ops/activation.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/math.h>
#include <tend/core/array/print.h>
#include <tend/core/base/words.h>
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

/// x Phi(x), exactly or by the tanh approximation. Hendrycks and Gimpel 2016,
/// https://arxiv.org/abs/1606.08415.
class GELU : public Module<GELU> {
 public:
  explicit GELU(OrWord<GeluKind> approximation = GeluKind::exact) : approximate(approximation) {}

  Tensor forward(const Tensor& x) const { return gelu(x, approximate); }
  std::string extra_repr() const override {
    return approximate == GeluKind::exact ? "approximate='none'" : "approximate='tanh'";
  }

  GeluKind approximate;
};

class ReLU6 : public Module<ReLU6> {
 public:
  Tensor forward(const Tensor& x) const { return relu6(x); }
};

class SELU : public Module<SELU> {
 public:
  Tensor forward(const Tensor& x) const { return selu(x); }
};

class Hardsigmoid : public Module<Hardsigmoid> {
 public:
  Tensor forward(const Tensor& x) const { return hardsigmoid(x); }
};

class Hardswish : public Module<Hardswish> {
 public:
  Tensor forward(const Tensor& x) const { return hardswish(x); }
};

class Softsign : public Module<Softsign> {
 public:
  Tensor forward(const Tensor& x) const { return softsign(x); }
};

class CELU : public Module<CELU> {
 public:
  explicit CELU(double scale = 1) : alpha(scale) {}

  Tensor forward(const Tensor& x) const { return celu(x, alpha); }
  std::string extra_repr() const override { return "alpha=" + python_repr(alpha); }

  double alpha;
};

class Hardtanh : public Module<Hardtanh> {
 public:
  explicit Hardtanh(double lowest = -1, double highest = 1) : min_val(lowest), max_val(highest) {}

  Tensor forward(const Tensor& x) const { return hardtanh(x, min_val, max_val); }
  std::string extra_repr() const override {
    return "min_val=" + python_repr(min_val) + ", max_val=" + python_repr(max_val);
  }

  double min_val, max_val;
};

class Softplus : public Module<Softplus> {
 public:
  explicit Softplus(double steepness = 1, double linear_from = 20)
      : beta(steepness), threshold(linear_from) {}

  Tensor forward(const Tensor& x) const { return softplus(x, beta, threshold); }
  std::string extra_repr() const override {
    return "beta=" + python_repr(beta) + ", threshold=" + python_repr(threshold);
  }

  double beta, threshold;
};

/// x where it is positive, else weight * x (torch.nn.PReLU).
///
/// The weight is learned: one number for all elements, or one for each channel (dimension 1).
class PReLU : public Module<PReLU> {
 public:
  /// `parameters` is 1 or the number of channels; `init` is the first value of the weights.
  ///
  /// Throws: ShapeError - the number of parameters is negative
  explicit PReLU(std::int64_t parameters = 1, double init = 0.25) : num_parameters(parameters) {
    weight = Parameter(full({parameters}, init));
  }

  Tensor forward(const Tensor& x) const { return prelu(x, weight); }
  std::string extra_repr() const override {
    return "num_parameters=" + std::to_string(num_parameters);
  }

  std::int64_t num_parameters;
  TEND_PARAMETER(weight);
};

class Softmax : public Module<Softmax> {
 public:
  explicit Softmax(std::int64_t dimension) : dim(dimension) {}

  Tensor forward(const Tensor& x) const { return softmax(x, dim); }
  std::string extra_repr() const override { return "dim=" + std::to_string(dim); }

  std::int64_t dim;
};

class LogSoftmax : public Module<LogSoftmax> {
 public:
  explicit LogSoftmax(std::int64_t dimension) : dim(dimension) {}

  Tensor forward(const Tensor& x) const { return log_softmax(x, dim); }
  std::string extra_repr() const override { return "dim=" + std::to_string(dim); }

  std::int64_t dim;
};

class Softmin : public Module<Softmin> {
 public:
  explicit Softmin(std::int64_t dimension) : dim(dimension) {}

  Tensor forward(const Tensor& x) const { return softmin(x, dim); }
  std::string extra_repr() const override { return "dim=" + std::to_string(dim); }

  std::int64_t dim;
};

}  // namespace tend::nn
