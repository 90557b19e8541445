// Runs the random programs of tests/fuzz/programs.py in tend.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <tend/tend.h>
#include <nlohmann/json.hpp>

#include "tests/op_table/op_table.h"

namespace tend::test {

/// The state of a tensor: its dtype, shape and flags as one text, and two sums over its elements. A
/// leaf with a gradient also has two sums over the gradient.
struct TensorState {
  std::string kind;
  std::vector<double> sums;
};

/// Runs the steps of a program and owns its tensors. Machine in programs.py has the same steps and
/// describes them.
class Machine {
 public:
  /// Runs one step, [kind, arguments...].
  void run(const nlohmann::json& step);

  /// The state of each tensor by its name.
  std::map<std::string, TensorState> state() const;
  /// All tensors of the program.
  std::vector<Tensor> tensors() const;

 private:
  using json = nlohmann::json;

  void define(const std::vector<Tensor>& tensors);
  std::vector<Tensor> named(const json& names) const;
  void run_row(const json& step);
  void run_write(const json& step);
  void run_grad(const json& step);
  void run_optimizer(const json& step);
  void run_hook(const json& step);
  void run_mistake(const std::string& kind, const Tensor& x);
  bool run_on_graph(const std::string& kind, const json& step);
  bool run_on_leaf(const std::string& kind, const json& step);

  std::map<std::string, Tensor> names_;
  std::vector<std::string> leaves_;
  std::deque<std::variant<optim::SGD, optim::AdamW>> optimizers_;
  std::vector<HookHandle> hooks_;
  int count_ = 0;
};

}  // namespace tend::test
