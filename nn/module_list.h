// ModuleList: any number of modules of one class.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tend/nn/module.h>

namespace tend::nn {

/// Modules named "0", "1", ...; iterate over it, or index it.
template <class T>
class ModuleList : public ModuleBase {
 public:
  ModuleList() = default;

  template <class... Args>
  T& emplace_back(Args&&... args) {
    return modules_.emplace_back(std::forward<Args>(args)...);
  }
  void push_back(T module) { modules_.push_back(std::move(module)); }

  std::size_t size() const noexcept { return modules_.size(); }
  T& operator[](std::size_t i) { return modules_.at(i); }
  const T& operator[](std::size_t i) const { return modules_.at(i); }
  auto begin() noexcept { return modules_.begin(); }
  auto end() noexcept { return modules_.end(); }
  auto begin() const noexcept { return modules_.begin(); }
  auto end() const noexcept { return modules_.end(); }

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    std::vector<std::pair<std::string, ModuleBase*>> children;
    for (T& module : modules_) children.emplace_back(std::to_string(children.size()), &module);
    return children;
  }

 private:
  std::vector<T> modules_;
};

}  // namespace tend::nn
