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
// Each field macro declares a member and registers it under its own name, which becomes its key in
// state_dict. The first call of a module that holds another one as a member without the macro is an
// Error. Modules behind pointers or in a std::vector are not found so, and their parameters are not
// trained: use ModuleList, ModuleDict or register_module.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tend/core/base/function_ref.h>
#include <tend/nn/module/any_module.h>
#include <tend/nn/module/live_object.h>
#include <tend/nn/module/module_hooks.h>
#include <tend/nn/module/parameter.h>
#include <tend/nn/module/state_dict.h>

namespace tend::nn {

/// The options of register_buffer and TEND_BUFFER.
struct BufferOptions {
  /// Whether state_dict has the buffer; one that is not persistent is loaded where a state has it.
  Flag persistent = true;
};

/// The options of state_dict.
struct StateDictOptions {
  /// Lists buffers that are not persistent, too.
  Flag all_buffers = false;
};

/// The part of every module that does not depend on its type. Modules are values: they are members
/// of others, or elements of a ModuleList. A copy has its own structure but shares the tensors, as
/// Python's copy.copy does; clone() copies them, too.
///
/// Do not assign to a module, move it or change its list of modules while it is called. Do not
/// assign a part of a module to that module; move the part out first. Calls nest at most
/// NestedCall::kMaxDepth deep.
class ModuleBase : public LiveObject {
 public:
  virtual ~ModuleBase() = default;

  // Names are paths such as "blocks.0.W_query.weight". A tensor that has two paths is listed once,
  // under the first.

  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  std::vector<Tensor> parameters() const;
  std::vector<Tensor> buffers() const;
  /// This module (name "") and all below it, parents first.
  std::vector<std::pair<std::string, ModuleBase*>> named_modules();
  /// The direct sub-modules.
  virtual std::vector<std::pair<std::string, ModuleBase*>> named_children();

  // What is named at run time instead of by a field macro. Copies of the module have it, too. Error
  // for a name that is empty, has a dot, or is taken.

  /// Returns the parameter; one that is undefined counts as absent.
  Parameter register_parameter(const std::string& name, Parameter parameter);
  /// Returns the buffer.
  Tensor register_buffer(const std::string& name, Tensor buffer, const BufferOptions& options = {});
  /// The reference is valid until this module is assigned to, moved or destroyed.
  template <class M>
  M& register_module(const std::string& name, M module) {
    check_name("register_module", name);
    extras_.push_back({name, MemberKind::module, true, {}, AnyModule(std::move(module))});
    return extras_.back().module->as<M>();
  }

  // Look-up by a path such as "blocks.0.norm.weight"; Error where there is nothing.

  Tensor get_parameter(std::string_view path) const;
  Tensor get_buffer(std::string_view path) const;
  ModuleBase& get_submodule(std::string_view path);

  bool is_training() const noexcept { return training_; }
  bool training() const noexcept { return training_; }  ///< is_training(), by PyTorch's name
  /// Sets this module and all below it to training (or not).
  void train(Flag mode = true);
  void eval() { train(false); }

  /// Every parameter and persistent buffer under its path, as PyTorch names them. The tensors are
  /// the module's own, without history.
  StateDict state_dict(const StateDictOptions& options = {}) const;
  /// Copies the elements of `state` into the parameters and buffers of the same names, converted to
  /// their dtypes. Buffers that are not persistent may be missing. Returns the missing and
  /// unexpected keys, of which a strict call has none.
  ///
  /// Everything is checked before anything changes. An Error lists all keys
  /// - that are missing or unexpected, if strict,
  /// - whose tensor has another shape than the module's, or is undefined,
  /// - that are there twice, or
  /// - that name one tensor of the module but have different elements (PyTorch uses the last).
  IncompatibleKeys load_state_dict(const StateDict& state, Flag strict = true);

  /// f for every module, children first (torch.nn.Module.apply).
  void apply(const std::function<void(ModuleBase&)>& f);
  /// Converts all floating parameters and buffers of another dtype, and drops their gradients.
  /// DTypeError unless `dtype` is floating, AutogradError for a buffer of another dtype with
  /// history.
  void to(DType dtype);
  void zero_grad() const;
  /// Sets requires_grad of all parameters; false freezes them.
  void requires_grad_(Flag value = true) const;
  /// The number of elements of all parameters, or of those that require grad.
  std::int64_t num_parameters(Flag only_trainable = false) const;

  // Hooks, in the order of their registration; later copies of the module share them. They run when
  // the module is called, and see those of its arguments that are tensors. Calling a module with
  // hooks whose forward does not return a single tensor is an Error.

  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  HookHandle register_forward_hook(ForwardHook hook);
  /// torch's register_full_backward_hook.
  HookHandle register_backward_hook(BackwardHook hook);

  /// The class name, without namespaces.
  std::string type_name() const;
  /// What torch prints between the parentheses of a layer, such as "in_features=3, out_features=2,
  /// bias=False".
  virtual std::string extra_repr() const { return {}; }
  /// torch's repr of the module tree.
  std::string repr() const;

 protected:
  enum class MemberKind : unsigned char { parameter, buffer, module };
  /// A parameter or buffer of this module itself.
  struct OwnTensor {
    std::string_view name;
    MemberKind kind;
    bool persistent;
    Tensor& tensor;
  };
  /// Calls f for each of them.
  virtual void each_tensor(FunctionRef<void(const OwnTensor&)> f);

  ModuleBase() : LiveObject(LiveKind::module) {}
  ModuleBase(const ModuleBase&) = default;
  ModuleBase(ModuleBase&&) noexcept = default;
  ModuleBase& operator=(const ModuleBase&) = default;
  ModuleBase& operator=(ModuleBase&&) noexcept = default;

  /// The hooks to run; nullptr if there are none.
  const ModuleHooks* hooks() const noexcept {
    return hooks_ && !hooks_->empty() ? hooks_.get() : nullptr;
  }
  [[noreturn]] void fail_hooks() const;
  static std::size_t checked_place(const char* list, std::int64_t index, std::size_t size);

  /// At the first call, an Error for what nothing would train or save:
  /// - a module or a parameter that is a member of this module, or of one below it, and that no
  ///   field macro registered
  /// - this module, where another one calls it that does not have it among its members, as it does
  ///   not have those of a std::vector. Not if it has nothing to train, or if its parameters were
  ///   listed: then somebody knows of it.
  void check_members(const ModuleScope& scope) const {
    if (!checked_) find_unregistered(scope);
  }
  /// The bytes of this object, in which its members are.
  virtual std::span<const std::byte> own_bytes() const noexcept { return {}; }
  /// The class whose forward a call of this module runs.
  virtual const std::type_info& called_class() const noexcept { return typeid(*this); }

  static ModuleBase& base_of(ModuleBase& module) noexcept { return module; }
  static ModuleBase& base_of(AnyModule& module) { return module.module(); }
  /// Error naming `operation` for what cannot be the name of another member.
  void check_name(const char* operation, std::string_view name);
  /// Error where this module is of a class derived from the one that was declared.
  void check_class(const std::type_info& declared) const;

  /// Gives this module, a copy of another, tensors and lists of hooks of its own, for clone().
  void own_tensors();

  /// Overridden by a module with an invariant, to throw for a loaded value that breaks it.
  virtual void check_loaded(const std::string& /*field*/, const Tensor& /*value*/) const {}

 private:
  friend class Field;
  // A member by its distance from this object, which copying and moving preserve.
  struct Entry {
    const char* name;
    std::ptrdiff_t offset;
    MemberKind kind;
    bool persistent;
  };
  // What was registered at run time: a tensor, or a module.
  struct Extra {
    std::string name;
    MemberKind kind;
    bool persistent;
    Tensor tensor;
    std::optional<AnyModule> module;
  };
  // A parameter or buffer of this module or of one below.
  struct PathTensor {
    std::string path;
    std::string name;
    MemberKind kind;
    bool persistent;
    Tensor tensor;
    ModuleBase* owner;
  };

  // A flag that threads set and read while they call a module. A copy has its value.
  struct Mark : std::atomic<bool> {
    using std::atomic<bool>::operator=;
    Mark() : std::atomic<bool>(false) {}
    Mark(const Mark& other) noexcept : std::atomic<bool>(other.load()) {}
    Mark& operator=(const Mark& other) noexcept {
      store(other.load());
      return *this;
    }
    ~Mark() = default;
  };

  template <class T>
  T& member(const Entry& entry) const {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(&self()) + entry.offset);
  }
  void find_unregistered(const ModuleScope& scope) const;
  bool is_unknown_to(const ModuleBase& root) const;
  ModuleBase& self() const noexcept { return const_cast<ModuleBase&>(*this); }
  /// This module and all below it, parents first.
  std::vector<ModuleBase*> modules() const;
  std::vector<PathTensor> path_tensors() const;
  std::vector<std::pair<std::string, Tensor>> named(MemberKind kind) const;
  void add_extra(const char* operation, const std::string& name, Extra extra);
  std::vector<Tensor> collect(MemberKind kind) const;

  ModuleHooks& make_hooks();

  std::vector<Entry> entries_;
  std::vector<Extra> extras_;
  std::shared_ptr<ModuleHooks> hooks_;
  bool training_ = true;
  mutable Mark checked_;  // all members were found registered
  mutable Mark listed_;   // parameters() or named_parameters() went over it
};

/// Registers a member with its module; the field macros declare one after each member.
class Field {
 public:
  Field(ModuleBase& owner, const char* name, ModuleBase& member) {
    enlist(owner, &member, {name, 0, ModuleBase::MemberKind::module, true});
  }
  Field(ModuleBase& owner, const char* name, Parameter& member) {
    enlist(owner, static_cast<Tensor*>(&member),
           {name, 0, ModuleBase::MemberKind::parameter, true});
  }
  Field(ModuleBase& owner, const char* name, Tensor& member, const BufferOptions& options = {}) {
    enlist(owner, &member, {name, 0, ModuleBase::MemberKind::buffer, options.persistent});
  }

 private:
  static void enlist(ModuleBase& owner, void* member, ModuleBase::Entry entry) {
    entry.offset = static_cast<char*>(member) - reinterpret_cast<char*>(&owner);
    owner.entries_.push_back(entry);
  }
};

/// Base of a module class, which defines `forward`. Calling the module runs forward and the hooks.
/// An Error of a module within another ends with its path, as (in GPT.blocks.1.feed_forward.down).
/// Classes are not derived from a module's class in turn (an Error at the first call), unless that
/// is abstract, with a virtual forward.
template <class Derived>
class Module : public ModuleBase {
 public:
  template <class... Args>
  decltype(auto) operator()(Args&&... args) const {
    const ModuleScope scope(*this);
    check_members(scope);
    try {
      return run(std::forward<Args>(args)...);
    } catch (const Error& error) {
      scope.rethrow_with_path(error);
    }
  }

  /// A deep copy, as Python's copy.deepcopy makes it: parameters and buffers of its own with the
  /// same elements, dtypes and requires_grad, without gradients; what was one tensor is one in the
  /// copy. Training mode and hooks are the same, but hooks that come or go later are those of one.
  /// Members that are Tensors stay the original's, what register_buffer() returned, too (use
  /// get_buffer(), or TEND_BUFFER). AutogradError for a tensor with history.
  Derived clone() const {
    check_class(typeid(Derived));
    Derived copy = static_cast<const Derived&>(*this);
    copy.own_tensors();
    return copy;
  }

 protected:
  std::span<const std::byte> own_bytes() const noexcept override {
    // Without std::as_bytes, whose templates would take a third of the time to compile tend.h.
    return {reinterpret_cast<const std::byte*>(static_cast<const Derived*>(this)), sizeof(Derived)};
  }
  const std::type_info& called_class() const noexcept override {
    return std::is_abstract_v<Derived> ? typeid(*this) : typeid(Derived);
  }

 private:
  template <class... Args>
  decltype(auto) run(Args&&... args) const {
    const auto& self = static_cast<const Derived&>(*this);
    if (hooks() == nullptr) return self.forward(std::forward<Args>(args)...);
    using Result = decltype(self.forward(std::forward<Args>(args)...));
    if constexpr (std::is_same_v<Result, Tensor> &&
                  requires { self.forward(std::declval<InputOr<Args>>()...); }) {
      std::vector<Tensor> inputs;
      (add_input(inputs, args), ...);
      return call_with_hooks(*this, *hooks(), inputs, [&](const std::vector<Tensor>& replaced) {
        std::size_t next = 0;
        // Braces make the evaluation go from left to right.
        const auto forward = [&](auto&&... each) { return self.forward(each...); };
        return std::apply(forward,
                          std::tuple<InputOr<Args>...>{take_input(replaced, next, args)...});
      });
    } else {
      fail_hooks();
    }
  }

  template <class T>
  static constexpr bool kIsTensor = std::is_convertible_v<T&, const Tensor&>;
  template <class T>
  using InputOr = std::conditional_t<kIsTensor<T>, const Tensor&, T&>;

  template <class T>
  static void add_input(std::vector<Tensor>& inputs, const T& argument) {
    if constexpr (kIsTensor<const T>) inputs.push_back(argument);
  }
  template <class T>
  static auto& take_input(const std::vector<Tensor>& inputs, std::size_t& next, T& argument) {
    if constexpr (kIsTensor<T>) {
      return inputs.at(next++);
    } else {
      return argument;
    }
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
/// A buffer named `name`: part of the state, not trained. BufferOptions may follow:
/// TEND_BUFFER(mask, {.persistent = false}).
#define TEND_BUFFER(name, ...)                            \
  ::tend::Tensor name;                                    \
  [[no_unique_address]] ::tend::nn::Field name##_field_ { \
    *this, #name, name __VA_OPT__(, ) __VA_ARGS__         \
  }
