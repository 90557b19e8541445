// AnyModule: a module of any class as a value.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/destroy.h>
#include <tend/core/base/nested_call.h>

namespace tend::nn {

class ModuleBase;

/// Holds a module of any class, in lists of mixed classes. A copy holds a copy of the module, which
/// shares its tensors. They may be nested, thousands deep.
class AnyModule {
 public:
  template <class M>
  requires std::derived_from<M, ModuleBase> AnyModule(M module)
      : held_(new Held<M>(std::move(module))) {}
  AnyModule(const AnyModule& other) : held_(other.copy()) {}
  AnyModule(AnyModule&&) noexcept = default;
  AnyModule& operator=(const AnyModule& other) { return *this = AnyModule(other); }
  /// Error while the module that it holds, or one in that, is called.
  AnyModule& operator=(AnyModule&& other) {
    check_idle();
    check_outside(other);
    held_ = std::move(other.held_);
    return *this;
  }
  ~AnyModule() = default;

  /// Error for an AnyModule that was moved from.
  ModuleBase& module() { return held().module(); }
  const ModuleBase& module() const { return held().module(); }
  ModuleBase* operator->() { return &module(); }
  const ModuleBase* operator->() const { return &module(); }
  /// The module as one of class M; Error when it is of another class.
  template <class M>
  M& as() {
    auto* held = dynamic_cast<Held<M>*>(held_.get());
    if (held == nullptr) fail_class(typeid(M));
    return held->value;
  }

  /// Calls the module. Error for one whose forward does not take one tensor and give one.
  Tensor operator()(const Tensor& x) const {
    const NestedCall nested("AnyModule");
    return held().call(x);
  }

 private:
  struct Holder : DestroyedInTurn<Holder> {
    virtual ~Holder() = default;
    virtual ModuleBase& module() noexcept = 0;
    virtual Tensor call(const Tensor& x) const = 0;
    virtual Holder* copy() const = 0;
  };
  struct Destroy {
    void operator()(Holder* holder) const noexcept {
      destroy_in_turn(holder, [](Holder* each) { delete each; });
    }
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
    Holder* copy() const override { return new Held(value); }
    M value;
  };

  Holder& held() const {
    if (!held_) fail("AnyModule", "was moved from");
    return *held_;
  }
  Holder* copy() const {
    if (!held_) return nullptr;
    const NestedCall nested("AnyModule");
    return held_->copy();
  }
  void check_idle() const;
  // Error where this stands in the module of `other`, which moves into it.
  void check_outside(const AnyModule& other) const;
  [[noreturn]] void fail_class(const std::type_info& wanted) const;
  [[noreturn]] static void fail_call(const std::type_info& type);

  std::unique_ptr<Holder, Destroy> held_;
};

}  // namespace tend::nn
