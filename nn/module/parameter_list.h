// ParameterList: a list of parameters.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// A list of parameters with the names "0", "1", ... (torch.nn.ParameterList).
class ParameterList : public ModuleBase {
 public:
  ParameterList() = default;
  explicit ParameterList(std::vector<Parameter> parameters) noexcept
      : parameters_(std::move(parameters)) {}
  /// ParameterList{Parameter(zeros({3})), Parameter(ones({3}))}.
  ParameterList(std::initializer_list<Parameter> parameters)
      : parameters_(std::vector<Parameter>(parameters)) {}

  /// A deep copy, as Module::clone makes it.
  ParameterList clone() const;

  void push_back(Parameter parameter) { parameters_.push_back(std::move(parameter)); }
  std::size_t size() const noexcept { return parameters_.size(); }
  /// Makes a parameter from a tensor, and adds it.
  Parameter& emplace_back(const Tensor& value) {
    push_back(Parameter(value));
    return parameters_.back();
  }
  ///@{
  /// The parameter at a position; -1 is the last one.
  ///
  /// Throws: IndexError - the position is out of range
  Parameter& operator[](Integer i) { return parameters_[checked(i)]; }
  const Parameter& operator[](Integer i) const { return parameters_[checked(i)]; }
  Parameter& at(Integer i) { return parameters_[checked(i)]; }
  const Parameter& at(Integer i) const { return parameters_[checked(i)]; }
  ///@}
  auto begin() noexcept { return parameters_.begin(); }
  auto end() noexcept { return parameters_.end(); }
  auto begin() const noexcept { return parameters_.begin(); }
  auto end() const noexcept { return parameters_.end(); }

  std::string extra_repr() const override;

 protected:
  void each_tensor(FunctionRef<void(const OwnTensor&)> f) override;

 private:
  std::size_t checked(std::int64_t i) const;

  std::vector<Parameter> parameters_;
};

}  // namespace tend::nn
