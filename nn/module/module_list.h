// ModuleList: a list of modules, of one class or of several.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// A list of modules with the names "0", "1", ... (torch.nn.ModuleList).
///
/// A ModuleList<T> has modules of class T, a ModuleList<> modules of any classes. References to the
/// modules are valid until the list grows or reserves memory.
template <class T = AnyModule>
class ModuleList : public ModuleBase {
 public:
  ModuleList() = default;
  /// A list of these modules: ModuleList<>{Linear(8, 32), ReLU()}. Braces make them from left to
  /// right.
  template <class... Modules>
  requires(sizeof...(Modules) > 0 && (std::convertible_to<Modules, T> && ...) &&
           ((std::derived_from<Modules, ModuleBase> ||
             std::same_as<Modules, AnyModule>)&&...)) explicit ModuleList(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }
  /// Calls `make` for each of `count` modules: ModuleList<Block>(3, [&] { return Block(width); }),
  /// as Python's [Block(width) for _ in range(3)].
  ///
  /// Throws: Error - `count` is below 0
  template <class Make>
  requires(!std::derived_from<Make, ModuleBase>) && std::is_invocable_r_v<T, Make&> ModuleList(
                                                        std::int64_t count, Make make) {
    reserve(count);
    for (std::int64_t i = 0; i < count; ++i) push_back(make());
  }
  /// `count` clones of a module: ModuleList<Block>(3, block). Each has its own parameters, with the
  /// same values, as in torch.nn.TransformerEncoder(block, 3).
  template <std::derived_from<ModuleBase> M>
  requires std::convertible_to<M, T> ModuleList(std::int64_t count, const M& module)
      : ModuleList(count, [&] { return module.clone(); }) {}

  /// A deep copy, as Module::clone makes it.
  ModuleList clone() const {
    check_class(typeid(ModuleList));
    ModuleList copy = *this;
    copy.own_tensors();
    return copy;
  }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    return modules_.emplace_back(std::forward<Args>(args)...);
  }
  /// Reserves memory for `count` modules.
  ///
  /// Throws: Error - `count` is below 0
  void reserve(std::int64_t count) {
    if (count < 0) fail("ModuleList", "the number of modules is ", count);
    modules_.reserve(static_cast<std::size_t>(count));
  }
  void push_back(T module) { modules_.push_back(std::move(module)); }

  std::size_t size() const noexcept { return modules_.size(); }
  ///@{
  /// The module at a position; -1 is the last one.
  ///
  /// Throws: IndexError - the position is out of range
  T& operator[](Integer i) { return modules_[checked(i)]; }
  const T& operator[](Integer i) const { return modules_[checked(i)]; }
  T& at(Integer i) { return modules_[checked(i)]; }
  const T& at(Integer i) const { return modules_[checked(i)]; }
  ///@}
  auto begin() noexcept { return modules_.begin(); }
  auto end() noexcept { return modules_.end(); }
  auto begin() const noexcept { return modules_.begin(); }
  auto end() const noexcept { return modules_.end(); }

  std::vector<std::pair<std::string, ModuleBase*>> named_children() override {
    auto children = ModuleBase::named_children();
    for (std::size_t i = 0; i < modules_.size(); ++i)
      children.emplace_back(std::to_string(i), &base_of(modules_[i]));
    return children;
  }

 private:
  std::size_t checked(std::int64_t i) const { return checked_index("ModuleList", i, size()); }

  std::vector<T> modules_;
};

}  // namespace tend::nn
