// Parameters of models in libtorch.
#pragma once

#include <cstring>
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

  at::Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
    return make(name, {rows, columns}, rows, columns);
  }
  at::Tensor vector(const std::string& name, std::int64_t size) {
    return make(name, {size}, 1, size);
  }
  const std::vector<at::Tensor>& all() const { return all_; }
  const std::map<std::string, at::Tensor>& by_name() const { return by_name_; }

 private:
  at::Tensor make(const std::string& name, at::IntArrayRef shape, std::int64_t rows,
                  std::int64_t columns) {
    at::Tensor tensor = at::empty(shape, at::kFloat);
    const std::vector<float> values = parameter_values(seed_, name, rows, columns);
    std::memcpy(tensor.data_ptr<float>(), values.data(), values.size() * sizeof(float));
    all_.push_back(tensor.requires_grad_(true));
    by_name_[name] = tensor;
    return tensor;
  }

  std::uint64_t seed_;
  std::vector<at::Tensor> all_;
  std::map<std::string, at::Tensor> by_name_;
};

struct Norm {
  Norm(Parameters& p, const std::string& prefix, std::int64_t width)
      : weight(p.vector(prefix + "weight", width)), bias(p.vector(prefix + "bias", width)) {}

  at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias);
  }

  at::Tensor weight, bias;
};

}  // namespace compare
