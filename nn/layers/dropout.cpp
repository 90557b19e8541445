#include <tend/nn/layers/dropout.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/array/print.h>

namespace tend::nn {

Dropout::Dropout(double probability) : p(probability) {
  check_dropout("Dropout", p);
}

Tensor Dropout::forward(const Tensor& x) const {
  return dropout(x, p, is_training());
}

std::string Dropout::extra_repr() const {
  return "p=" + python_repr(p) + ", inplace=False";
}

}  // namespace tend::nn
