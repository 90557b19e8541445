// The named tensors of a program, and what is compared of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "digest.h"

namespace fuzz {

/// A leaf stays for the whole program; a value has, or may have, a history; a plain tensor has
/// none.
enum class Role { leaf, value, plain };

/// A named tensor, which may be undefined.
struct Named {
  std::string name;
  tend::Tensor tensor;
  Role role;
};

/// What a tensor and its gradient come to.
struct TensorState {
  std::string kind = "none";  // "float64 (2, 3) requires_grad leaf"
  double sum = 0;
  double magnitude = 0;
  std::string grad_kind = "none";
  double grad_sum = 0;
  double grad_magnitude = 0;

  bool operator==(const TensorState&) const = default;
};

/// All of a program, by name. An optimizer's state is there, too: "o3.1.exp_avg".
using World = std::map<std::string, TensorState>;

TensorState state_of(const tend::Tensor& tensor);

/// The tensors in the order of their naming.
struct Names {
  std::vector<Named> tensors;

  void bind(const std::string& name, const tend::Tensor& tensor, Role role);
  void erase(const std::string& name);
  /// The tensor of that name, which there must be.
  tend::Tensor find(const std::string& name) const;
};

}  // namespace fuzz
