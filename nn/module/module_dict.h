// ModuleDict: modules with names that are chosen at run time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// Modules by name, in the order of their insertion (torch.nn.ModuleDict).
///
/// A ModuleDict<T> has modules of class T, a ModuleDict<> modules of any classes. Iterate over its
/// pairs of name and module.
template <class T = AnyModule>
class ModuleDict : public ModuleBase {
 public:
  using value_type = std::pair<const std::string, T>;
  using iterator = typename std::list<value_type>::iterator;

  ModuleDict() = default;
  /// Inserts modules in this order: ModuleDict<>{{"body", Linear(8, 8)}, {"head", Linear(8, 3)}}.
  ModuleDict(std::initializer_list<value_type> modules) {
    for (const auto& [name, module] : modules) insert(name, module);
  }

  /// A deep copy, as Module::clone makes it.
  ModuleDict clone() const {
    check_class(typeid(ModuleDict));
    ModuleDict copy = *this;
    copy.own_tensors();
    return copy;
  }

  /// Adds a module, or replaces the module of that name at its position.
  ///
  /// Throws: Error - the name is empty, has a dot, or belongs to another member of this object
  T& insert(const std::string& name, T module) {
    const auto at = find(name);
    if (at != modules_.end()) return at->second = std::move(module);
    check_name("ModuleDict", name);
    return modules_.emplace_back(name, std::move(module)).second;
  }
  /// Adds a module that is made from the arguments, unless there is a module of that name. Returns
  /// an iterator to the module of that name, and whether it was added.
  ///
  /// Throws: Error - as insert()
  template <class... Arguments>
  std::pair<iterator, bool> emplace(const std::string& name, Arguments&&... arguments) {
    const auto known = find(name);
    if (known != modules_.end()) return {known, false};
    insert(name, T(std::forward<Arguments>(arguments)...));
    return {std::prev(modules_.end()), true};
  }
  /// Removes a module.
  ///
  /// Throws: IndexError - there is no module of that name
  void erase(std::string_view name) { modules_.erase(checked(name)); }
  void clear() noexcept { modules_.clear(); }

  std::size_t size() const noexcept { return modules_.size(); }
  bool empty() const noexcept { return modules_.empty(); }
  bool contains(std::string_view name) const noexcept {
    return const_cast<ModuleDict*>(this)->find(name) != modules_.end();
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [name, module] : modules_) keys.push_back(name);
    return keys;
  }
  ///@{
  /// The module of that name.
  ///
  /// Throws: IndexError - there is no module of that name
  T& operator[](std::string_view name) { return checked(name)->second; }
  const T& operator[](std::string_view name) const {
    return const_cast<ModuleDict*>(this)->checked(name)->second;
  }
  T& at(std::string_view name) { return (*this)[name]; }
  const T& at(std::string_view name) const { return (*this)[name]; }
  ///@}
  auto begin() noexcept { return modules_.begin(); }
  auto end() noexcept { return modules_.end(); }
  auto begin() const noexcept { return modules_.begin(); }
  auto end() const noexcept { return modules_.end(); }

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    auto children = ModuleBase::named_children();
    for (auto& [name, module] : modules_) children.emplace_back(name, &base_of(module));
    return children;
  }

 private:
  auto find(std::string_view name) noexcept {
    return std::find_if(modules_.begin(), modules_.end(),
                        [&](const auto& each) { return each.first == name; });
  }
  auto checked(std::string_view name) {
    const auto at = find(name);
    if (at == modules_.end()) fail<IndexError>("ModuleDict", "no module is named ", name);
    return at;
  }

  // A std::list, since a std::vector cannot move pairs with a const name. The list also keeps
  // references to modules valid.
  std::list<value_type> modules_;
};

}  // namespace tend::nn
