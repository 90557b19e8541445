// What examples/gradcheck checks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tend/tend.h>

/// A function to context vectors, and the leaves that its gradients are checked for.
struct Case {
  std::string name;
  std::function<tend::Tensor()> context;
  std::vector<tend::Tensor> inputs;  // float64, all require grad; `context` reaches them itself
  std::vector<std::string> names;
};

/// Every attention function and module, each with and without causal mask, dropout (with a mask
/// that stays the same) and biases, where it has them. Inputs and weights are drawn from the
/// default generator.
std::vector<Case> attention_cases();
