// Flatten and Identity.
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/ops/views.h>
#include <tend/core/base/error.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// Merges the dimensions start_dim to end_dim into one, by default all but the first
/// (torch.nn.Flatten).
class Flatten : public Module<Flatten> {
 public:
  explicit Flatten(std::int64_t start = 1, std::int64_t end = -1)
      : start_dim(start), end_dim(end) {}

  Tensor forward(const Tensor& x) const { return flatten(x, start_dim, end_dim); }
  std::string extra_repr() const override {
    return as_text("start_dim=", start_dim, ", end_dim=", end_dim);
  }

  std::int64_t start_dim;
  std::int64_t end_dim;
};

/// Returns its argument. It can replace another module (torch.nn.Identity).
class Identity : public Module<Identity> {
 public:
  Tensor forward(const Tensor& x) const { return x; }
};

}  // namespace tend::nn
