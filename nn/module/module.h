// Module: the base of classes that have named parameters, buffers and sub-modules.
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
// state_dict. If a class has a module as a member without the macro, its first call throws an
// Error. That check does not find modules in a std::vector or behind pointers, and their parameters
// are not trained. Use ModuleList, ModuleDict or register_module for them.
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
  /// True if state_dict() includes the buffer. load_state_dict() loads every buffer that the state
  /// has, persistent or not.
  Flag persistent = true;
};

/// The options of state_dict.
struct StateDictOptions {
  /// Includes buffers that are not persistent.
  Flag all_buffers = false;
};

/// The base of all modules, with everything that does not depend on the class of a module.
///
/// Modules are values: they are members of other modules, or elements of a ModuleList. A copy has
/// its own structure but shares the tensors, as in Python's copy.copy. clone() also copies the
/// tensors.
///
/// While a module is called, do not assign to it, move it or change its list of modules. Do not
/// assign a part of a module to that module; move the part out first. Calls nest at most
/// NestedCall::kMaxDepth deep.
class ModuleBase : public LiveObject {
 public:
  virtual ~ModuleBase() = default;

  // Names are paths such as "blocks.0.W_query.weight". A tensor that has two paths is listed only
  // under the first one.

  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  std::vector<Tensor> parameters() const;
  std::vector<Tensor> buffers() const;
  /// This module (name "") and all below it, parents first.
  std::vector<std::pair<std::string, ModuleBase*>> named_modules();
  /// The direct sub-modules.
  virtual std::vector<std::pair<std::string, ModuleBase*>> named_children();

  // These functions register members at run time, without a field macro. Copies of the module have
  // these members, too.

  /// Registers a parameter and returns it. An undefined parameter counts as absent.
  ///
  /// Throws: Error - the name is empty, has a dot, or is taken
  Parameter register_parameter(const std::string& name, Parameter parameter);
  /// Registers a buffer and returns it.
  ///
  /// Throws: Error - the name is empty, has a dot, or is taken
  Tensor register_buffer(const std::string& name, Tensor buffer, const BufferOptions& options = {});
  /// Registers a sub-module and returns a reference to it.
  ///
  /// The reference is valid until this module is assigned to, moved or destroyed.
  ///
  /// Throws: Error - the name is empty, has a dot, or is taken
  template <class M>
  M& register_module(const std::string& name, M module) {
    check_name("register_module", name);
    extras_.push_back({name, MemberKind::module, true, {}, AnyModule(std::move(module))});
    return extras_.back().module->as<M>();
  }

  // These functions look up a path such as "blocks.0.norm.weight". They throw an Error if there is
  // nothing at the path.

  Tensor get_parameter(std::string_view path) const;
  Tensor get_buffer(std::string_view path) const;
  ModuleBase& get_submodule(std::string_view path);

  bool is_training() const noexcept { return training_; }
  bool training() const noexcept { return training_; }  ///< is_training(), by PyTorch's name
  /// Puts this module and all below it into training mode or, if `mode` is false, into evaluation
  /// mode.
  void train(Flag mode = true);
  void eval() { train(false); }

  /// All parameters and persistent buffers under their paths, as PyTorch names them. The tensors
  /// share the module's elements and have no history.
  StateDict state_dict(const StateDictOptions& options = {}) const;
  /// Copies the tensors of `state` into the parameters and buffers with the same names.
  ///
  /// Elements are converted to the dtypes of the parameters and buffers. Buffers that are not
  /// persistent may be missing. Returns the missing and the unexpected keys; a strict call throws
  /// if there are any. Everything is checked before anything changes, and one Error lists all keys.
  ///
  /// Throws:
  ///   Error - keys are missing or unexpected, and `strict` is true
  ///   Error - a tensor is undefined or has another shape than the module's
  ///   Error - a key appears twice
  ///   Error - several keys name one tensor of the module, and their elements differ (PyTorch uses
  ///           the last one)
  IncompatibleKeys load_state_dict(const StateDict& state, Flag strict = true);

  /// Calls f for every module, children first (torch.nn.Module.apply).
  void apply(const std::function<void(ModuleBase&)>& f);
  /// Converts all floating parameters and buffers to `dtype`. Converted tensors lose their
  /// gradients.
  ///
  /// Throws:
  ///   DTypeError    - `dtype` is not floating
  ///   AutogradError - a buffer of another dtype has a history
  void to(DType dtype);
  void zero_grad() const;
  /// Sets requires_grad of all parameters; false freezes them.
  void requires_grad_(Flag value = true) const;
  /// The number of elements of all parameters, or only of parameters that require grad.
  std::int64_t num_parameters(Flag only_trainable = false) const;

  // Hooks run when the module is called, in the order of their registration. They receive the
  // arguments that are tensors. Later copies of the module share the hooks. If a module has hooks,
  // its forward must return a single tensor; otherwise a call throws an Error.

  HookHandle register_forward_pre_hook(ForwardPreHook hook);
  HookHandle register_forward_hook(ForwardHook hook);
  /// Registers a backward hook, like torch's register_full_backward_hook.
  HookHandle register_backward_hook(BackwardHook hook);

  /// The class name, without namespaces.
  std::string type_name() const;
  /// The text between the parentheses in torch's repr of a layer, such as "in_features=3,
  /// out_features=2, bias=False".
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
  /// Calls f for each tensor of this module itself.
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
  static std::size_t checked_index(const char* list, std::int64_t index, std::size_t size);

  /// At the first call, checks that every module and parameter will be trained and saved.
  ///
  /// The second error below does not occur if this module has nothing to train. It does not occur
  /// either if parameters() has listed the parameters, since an optimizer may then train them.
  ///
  /// Throws:
  ///   Error - a module or parameter is a member of this module, or of one below it, but no field
  ///           macro registered it
  ///   Error - another module calls this one without having it among its members, as with modules
  ///           in a std::vector
  void check_members(const ModuleScope& scope) const {
    if (!checked_) find_unregistered(scope);
  }
  /// The bytes of this object, which contain its members.
  virtual std::span<const std::byte> own_bytes() const noexcept { return {}; }
  /// The class whose forward a call of this module runs.
  virtual const std::type_info& called_class() const noexcept { return typeid(*this); }

  static ModuleBase& base_of(ModuleBase& module) noexcept { return module; }
  static ModuleBase& base_of(AnyModule& module) { return module.module(); }
  /// Throws an Error of `operation` if `name` cannot be the name of a new member.
  void check_name(const char* operation, std::string_view name);
  /// Throws an Error if this module's class is derived from the declared class.
  void check_class(const std::type_info& declared) const;

  /// Replaces the tensors and the lists of hooks by copies. clone() calls this on the new module.
  void own_tensors();

  /// load_state_dict() calls this for every value. Override it to throw an Error if a value breaks
  /// an invariant of the module.
  virtual void check_loaded(const std::string& /*field*/, const Tensor& /*value*/) const {}

 private:
  friend class Field;
  // A member, stored as its offset from this object. The offset is the same in copies and moved
  // objects.
  struct Entry {
    const char* name;
    std::ptrdiff_t offset;
    MemberKind kind;
    bool persistent;
  };
  // A tensor or a module that was registered at run time.
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

  // A flag that several threads set and read while they call a module. A copy has the same value.
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
  mutable Mark checked_;  // find_unregistered() found no error
  mutable Mark listed_;   // parameters() or named_parameters() has listed its parameters
};

/// Registers a member with its module. The field macros declare a Field after each member.
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
///
/// If a module within another one throws an Error, the message ends with the module's path, such as
/// (in GPT.blocks.1.feed_forward.down).
///
/// Do not derive a class from a module class, unless the module class is abstract, with a virtual
/// forward. The first call of such an object throws an Error.
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

  /// A deep copy with its own parameters and buffers, like Python's copy.deepcopy.
  ///
  /// The copies have the same elements, dtypes and requires_grad, but no gradients. A tensor that
  /// two members share is copied once, and the members of the copy share it. The copy has the same
  /// training mode and hooks; hooks that are registered or removed later affect only one of the
  /// two.
  ///
  /// Members that are plain Tensors still refer to the original's elements. So does a member that
  /// stores the result of register_buffer(): use get_buffer() or TEND_BUFFER instead.
  ///
  /// Throws: AutogradError - a parameter or buffer has a history
  Derived clone() const {
    check_class(typeid(Derived));
    Derived copy = static_cast<const Derived&>(*this);
    copy.own_tensors();
    return copy;
  }

 protected:
  std::span<const std::byte> own_bytes() const noexcept override {
    // Not std::as_bytes: its templates would take a third of the time that tend.h takes to compile.
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
/// A parameter named `name`. An undefined parameter, such as an optional bias, counts as absent.
#define TEND_PARAMETER(name)                              \
  ::tend::nn::Parameter name;                             \
  [[no_unique_address]] ::tend::nn::Field name##_field_ { \
    *this, #name, name                                    \
  }
/// A buffer named `name`: a tensor that is saved with the module but not trained. BufferOptions may
/// follow: TEND_BUFFER(mask, {.persistent = false}).
#define TEND_BUFFER(name, ...)                            \
  ::tend::Tensor name;                                    \
  [[no_unique_address]] ::tend::nn::Field name##_field_ { \
    *this, #name, name __VA_OPT__(, ) __VA_ARGS__         \
  }
