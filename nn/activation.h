// Activations as modules.
#pragma once

#include <tend/nn/module.h>

namespace tend::nn {

/// max(x, 0).
class ReLU : public Module<ReLU> {
 public:
  Tensor forward(const Tensor& x) const { return relu(x); }
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
