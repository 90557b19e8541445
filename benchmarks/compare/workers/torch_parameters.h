// Parameters of models in libtorch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../inputs.h"
#include "torch.h"

namespace compare {

/// Parameters by tend's names, from which their values follow.
class Parameters {
 public:
  explicit Parameters(std::uint64_t seed) : seed_(seed) {}

  Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
    return make(name, {rows, columns}, rows, columns);
  }
  Tensor vector(const std::string& name, std::int64_t size) { return make(name, {size}, 1, size); }
  const std::vector<Tensor>& all() const { return all_; }
  const std::map<std::string, Tensor>& by_name() const { return by_name_; }

 private:
  Tensor make(const std::string& name, at::IntArrayRef shape, std::int64_t rows,
              std::int64_t columns) {
    Tensor tensor = make_tensor(parameter_values(seed_, name, rows, columns), shape);
    all_.push_back(tensor.requires_grad_(true));
    by_name_[name] = tensor;
    return tensor;
  }

  std::uint64_t seed_;
  std::vector<Tensor> all_;
  std::map<std::string, Tensor> by_name_;
};

struct Norm {
  Norm(Parameters& p, const std::string& prefix, std::int64_t width)
      : weight(p.vector(prefix + "weight", width)), bias(p.vector(prefix + "bias", width)) {}

  Tensor operator()(const Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias);
  }

  Tensor weight, bias;
};

}  // namespace compare
