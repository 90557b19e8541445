// The attention functions and modules that examples/gradcheck checks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tend/tend.h>

/// A function that computes context vectors, and the leaves whose gradients are checked.
struct Case {
  std::string name;
  std::function<tend::Tensor()> context;
  std::vector<tend::Tensor> inputs;  // float64, all require grad; `context` captures them
  std::vector<std::string> names;
};

/// Every attention function and module, with and without its options: causal mask, dropout, biases.
///
/// The dropout mask is the same in every evaluation. Inputs and weights come from the default
/// generator.
std::vector<Case> attention_cases();
