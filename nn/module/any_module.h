// AnyModule: a module of any class as a value.
#pragma once

#include <concepts>
#include <memory>
#include <typeinfo>
#include <utility>

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn {

class ModuleBase;

/// Owns a module of any class, for lists of mixed classes.
///
/// A copy owns a copy of the module, which shares the module's tensors. After a move, the old
/// AnyModule can only be assigned to or destroyed.
class AnyModule {
 public:
  template <class M>
  requires std::derived_from<M, ModuleBase> AnyModule(M module)
      : held_(std::make_unique<Held<M>>(std::move(module))) {}
  AnyModule(const AnyModule& other) : held_(other.held_->copy()) {}
  AnyModule(AnyModule&&) noexcept = default;
  AnyModule& operator=(const AnyModule& other) { return *this = AnyModule(other); }
  AnyModule& operator=(AnyModule&&) noexcept = default;
  ~AnyModule() = default;

  ModuleBase& module() { return held_->module(); }
  const ModuleBase& module() const { return held_->module(); }
  ModuleBase* operator->() { return &module(); }
  const ModuleBase* operator->() const { return &module(); }
  /// The module as an object of class M.
  ///
  /// Throws: Error - the module is of another class
  template <class M>
  M& as() {
    auto* held = dynamic_cast<Held<M>*>(held_.get());
    if (held == nullptr) fail_class(typeid(M));
    return held->value;
  }

  /// Calls the module.
  ///
  /// Throws: Error - the module's forward does not accept one tensor and return one
  Tensor operator()(const Tensor& x) const { return held_->call(x); }

 private:
  struct Holder {
    virtual ~Holder() = default;
    virtual ModuleBase& module() noexcept = 0;
    virtual Tensor call(const Tensor& x) const = 0;
    virtual std::unique_ptr<Holder> copy() const = 0;
  };
  template <class M>
  struct Held final : Holder {
    explicit Held(M module) : value(std::move(module)) {}
    ModuleBase& module() noexcept override { return value; }
    Tensor call(const Tensor& x) const override {
      if constexpr (requires(M & m) {
                      { m.forward(x) } -> std::convertible_to<Tensor>;
                    }) {
        return value(x);
      } else {
        fail_call(typeid(M));
      }
    }
    std::unique_ptr<Holder> copy() const override { return std::make_unique<Held>(value); }
    M value;
  };

  [[noreturn]] void fail_class(const std::type_info& wanted) const;
  [[noreturn]] static void fail_call(const std::type_info& type);

  std::unique_ptr<Holder> held_;
};

}  // namespace tend::nn
