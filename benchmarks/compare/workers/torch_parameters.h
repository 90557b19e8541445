// Parameters of models in libtorch, and their optimizer.
#pragma once

#include <torch/optim/adamw.h>

#include <string>
#include <vector>

#include "torch.h"

#include "same_works.h"

namespace compare {

/// torch.optim.AdamW with its defaults, which are also tend's. It is fused if this version of
/// libtorch has a fused AdamW.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
class AdamW {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters) : parameters_(parameters) {
    for (const Tensor& parameter : parameters) {
      means_.push_back(at::zeros_like(parameter));
      squares_.push_back(at::zeros_like(parameter));
      steps_.push_back(at::zeros({}, at::kFloat));
    }
  }

  void step() {
    const at::NoGradGuard guard;
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
    for (const Tensor& count : steps_) count.add_(1);
    at::_fused_adamw_(parameters_, gradients, means_, squares_, {}, steps_, /*lr=*/1e-3,
                      /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/1e-2, /*eps=*/1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  std::vector<Tensor> parameters_, means_, squares_, steps_;
};
#else
using AdamW = torch::optim::AdamW;
#endif

struct Norm {
  Norm(Parameters& p, const std::string& prefix, std::int64_t width)
      : weight(p.vector(prefix + "weight", width)), bias(p.vector(prefix + "bias", width)) {}

  Tensor operator()(const Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias);
  }
  /// The LayerNorm of x. Adds the result and the scale to the cache.
  Tensor cached(const Tensor& x, std::vector<Tensor>& cache) const {
    auto [result, mean, scale] = at::native_layer_norm(x, weight.sizes(), weight, bias, 1e-5);
    cache.insert(cache.end(), {result, scale});
    return result;
  }

  Tensor weight, bias;
};

}  // namespace compare
