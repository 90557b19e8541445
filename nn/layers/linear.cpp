#include <tend/nn/layers/linear.h>

#include <cmath>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/layers/init.h>

namespace tend::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, Flag with_bias) {
  if (in_features < 1 || out_features < 0) {
    fail<ShapeError>("Linear", "in_features must be at least 1 and out_features at least 0, got ",
                     in_features, " and ", out_features);
  }
  weight = Parameter(empty({out_features, in_features}));
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!with_bias) return;
  bias = Parameter(empty({out_features}));
  const double bound = 1 / std::sqrt(static_cast<double>(in_features));
  init::uniform_(bias, -bound, bound);
}

Tensor Linear::forward(const Tensor& x) const {
  const Tensor y = linear(x, weight, bias);
  if (!lora_A.defined()) return y;
  const Tensor dropped = dropout(x, lora_dropout, is_training());
  return y + linear(linear(dropped, lora_A), lora_B) * lora_scale;
}

std::string Linear::extra_repr() const {
  return as_text("in_features=", weight.size(1), ", out_features=", weight.size(0),
                 ", bias=", bias.defined() ? "True" : "False") +
         (lora_A.defined() ? as_text(", lora_rank=", lora_A.size(0)) : "");
}

}  // namespace tend::nn
