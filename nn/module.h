// Module: what has parameters, buffers and sub-modules with names.
//
//   class Block : public nn::Module<Block> {
//    public:
//     explicit Block(std::int64_t width) : norm({width}), linear(width, width) {}
//     Tensor forward(const Tensor& x) const { return x + linear(norm(x)); }
//
//     TEND_MODULE(nn::LayerNorm, norm);
//     TEND_MODULE(nn::Linear, linear);
//   };
//
// Each field macro declares a member and enlists it under its own name, which becomes its key in
// state_dict.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tend/nn/parameter.h>

namespace tend::nn {

/// Named tensors in the order of their declaration, the form in which weights travel.
using StateDict = std::vector<std::pair<std::string, Tensor>>;

/// The part of every module that does not depend on its type. Modules are values: members, elements
/// of a ModuleList. A copy has its own structure but shares the tensors, as Python's copy.copy
/// does.
class ModuleBase {
 public:
  virtual ~ModuleBase() = default;

  // Names are paths such as "blocks.0.W_query.weight". A tensor that stands in two places is listed
  // once.

  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  std::vector<Tensor> parameters() const;
  std::vector<Tensor> buffers() const;
  /// This module (name "") and all below it, parents first.
  std::vector<std::pair<std::string, ModuleBase*>> named_modules();
  /// The direct sub-modules.
  virtual std::vector<std::pair<std::string, ModuleBase*>> named_children();

  bool is_training() const noexcept { return training_; }
  /// Sets this module and all below it to training (or not).
  void train(bool mode = true);
  void eval() { train(false); }

  /// Every parameter and buffer under its path, as PyTorch names them. The tensors are the module's
  /// own, without history.
  StateDict state_dict() const;
  /// Copies the elements of `state` into the parameters and buffers of the same names. Everything
  /// is checked first: an Error lists all missing, unexpected (both only when strict) and
  /// mis-shaped keys, and nothing has changed then.
  void load_state_dict(const StateDict& state, bool strict = true);

  /// f for every module, children first (torch.nn.Module.apply).
  void apply(const std::function<void(ModuleBase&)>& f);
  /// Converts all floating parameters and buffers; gradients are dropped.
  void to(DType dtype);
  void zero_grad() const;
  /// Freezes (false) or frees all parameters.
  void requires_grad_(bool value = true) const;
  /// Elements of all parameters, or of those that require grad.
  std::int64_t num_parameters(bool only_trainable = false) const;

  /// The class name, without namespaces.
  std::string type_name() const;
  /// What torch prints between the parentheses of a layer, such as "in_features=3, out_features=2,
  /// bias=False".
  virtual std::string extra_repr() const { return {}; }
  /// torch's repr of the module tree.
  std::string repr() const;

 protected:
  ModuleBase() = default;
  ModuleBase(const ModuleBase&) = default;
  ModuleBase(ModuleBase&&) noexcept = default;
  ModuleBase& operator=(const ModuleBase&) = default;
  ModuleBase& operator=(ModuleBase&&) noexcept = default;

  /// A module that holds a buffer to an invariant throws here for a loaded value that breaks it.
  virtual void check_loaded(const std::string& /*field*/, const Tensor& /*value*/) const {}

 private:
  friend class Field;
  enum class Kind : unsigned char { parameter, buffer, module };
  // A member by its distance from this object, which copying and moving preserve.
  struct Entry {
    const char* name;
    std::ptrdiff_t offset;
    Kind kind;
  };

  template <class T>
  T& member(const Entry& entry) const;
  ModuleBase& self() const noexcept { return const_cast<ModuleBase&>(*this); }
  StateDict named_tensors(bool parameters, bool buffers) const;

  std::vector<Entry> entries_;
  bool training_ = true;
};

/// Enlists a member of a module; what the field macros put behind each member.
class Field {
 public:
  Field(ModuleBase& owner, const char* name, ModuleBase& member) {
    enlist(owner, name, &member, ModuleBase::Kind::module);
  }
  Field(ModuleBase& owner, const char* name, Parameter& member) {
    enlist(owner, name, static_cast<Tensor*>(&member), ModuleBase::Kind::parameter);
  }
  Field(ModuleBase& owner, const char* name, Tensor& member) {
    enlist(owner, name, &member, ModuleBase::Kind::buffer);
  }

 private:
  static void enlist(ModuleBase& owner, const char* name, void* member, ModuleBase::Kind kind) {
    owner.entries_.push_back(
        {name, static_cast<char*>(member) - reinterpret_cast<char*>(&owner), kind});
  }
};

/// Base of a module class, which writes `forward`; calling the module calls it.
template <class Derived>
class Module : public ModuleBase {
 public:
  template <class... Args>
  decltype(auto) operator()(Args&&... args) const {
    return static_cast<const Derived&>(*this).forward(std::forward<Args>(args)...);
  }
};

std::ostream& operator<<(std::ostream& out, const ModuleBase& module);

}  // namespace tend::nn

/// A sub-module named `name` of the given class.
#define TEND_MODULE(Class, name)                          \
  Class name;                                             \
  [[no_unique_address]] ::tend::nn::Field name##_field_ { \
    *this, #name, name                                    \
  }
/// A parameter named `name`; while it is undefined it counts as absent (an optional bias, say).
#define TEND_PARAMETER(name)                              \
  ::tend::nn::Parameter name;                             \
  [[no_unique_address]] ::tend::nn::Field name##_field_ { \
    *this, #name, name                                    \
  }
/// A buffer named `name`: part of the state, not trained.
#define TEND_BUFFER(name)                                 \
  ::tend::Tensor name;                                    \
  [[no_unique_address]] ::tend::nn::Field name##_field_ { \
    *this, #name, name                                    \
  }
