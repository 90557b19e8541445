// From a function's type to a call with hostile arguments.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/hostile/drawn.h"
#include "tests/hostile/functions.h"

namespace tend::test {

using Tensors = std::vector<Tensor>;

// The tensors of a result.
inline Tensors tensors_in(Tensor x) {
  return {std::move(x)};
}
inline Tensors tensors_in(Tensors list) {
  return list;
}
inline Tensors tensors_in(const std::vector<Tensors>& lists) {
  Tensors all;
  for (const Tensors& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}
inline Tensors tensors_in(const Array& array) {
  return array.defined() ? Tensors{Tensor(array)} : Tensors{};
}
inline Tensors tensors_in(const ValuesAndIndices& both) {
  return {both.values, both.indices};
}
inline Tensors tensors_in(const std::pair<Tensor, Tensor>& both) {
  return {both.first, both.second};
}
inline Tensors tensors_in(const Extremes& both) {
  return {both.min, both.max};
}
inline Tensors tensors_in(const UniqueElements& all) {
  return {all.values, all.inverse, all.counts};
}
inline Tensors tensors_in(const attention::AttentionOutput& both) {
  return {both.context, both.weights};
}
inline Tensors tensors_in(const attention::GPTOutput& output) {
  Tensors all = output.weights;
  all.push_back(output.logits);
  return all;
}
inline Tensors tensors_in(const autograd::OutputsAndProduct& both) {
  Tensors all = both.outputs;
  all.insert(all.end(), both.product.begin(), both.product.end());
  return all;
}
inline Tensors tensors_in(const nn::ModuleBase& module) {
  return module.parameters();
}
inline Tensors tensors_in(const nn::StateDict& state) {
  Tensors all;
  for (const auto& [name, tensor] : state) all.push_back(tensor);
  return all;
}
template <class T>
requires(std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_enum_v<T>) Tensors
    tensors_in(const T&) {
  return {};
}
inline Tensors tensors_in(const std::string&) {
  return {};
}
inline Tensors tensors_in(const Shape&) {
  return {};
}
template <class T>
Tensors tensors_in(const std::set<T>&) {
  return {};
}
inline Tensors tensors_in(const std::optional<Shape>&) {
  return {};
}
inline Tensors tensors_in(const HookHandle&) {
  return {};
}
inline Tensors tensors_in(const GradcheckReport&) {
  return {};
}

template <class F>
Tensors results_of(F&& f) {
  using Result = std::remove_cvref_t<decltype(f())>;
  if constexpr (std::is_void_v<Result>) {
    f();
    return {};
  } else if constexpr (std::is_convertible_v<Result, Tensor>) {
    return {Tensor(f())};
  } else {
    return tensors_in(f());
  }
}

/// Functions whose parameters have the types A.
template <class... A>
struct With {
  static auto draw_all(Arguments& arguments) {
    // Braces make the evaluation go from left to right.
    return std::tuple<decltype(drawn<A>(arguments))...>{drawn<A>(arguments)...};
  }

  template <class R>
  static PublicFunction function(std::string signature, R (*f)(A...)) {
    return {std::move(signature), [f](Arguments& arguments) -> DrawnCall {
              return [f, all = draw_all(arguments)]() mutable {
                return results_of([&]() -> decltype(auto) { return std::apply(f, all); });
              };
            }};
  }

  /// A method of C (or of a base of it) with a drawn object.
  template <class C, class F>
  static PublicFunction method_of(std::string signature, F f) {
    return {std::move(signature), [f](Arguments& arguments) -> DrawnCall {
              auto self = drawn<C>(arguments);
              return [f, self, all = draw_all(arguments)]() mutable {
                return results_of([&]() -> decltype(auto) {
                  return std::apply(
                      [&](auto&... each) -> decltype(auto) { return (self.*f)(each...); }, all);
                });
              };
            }};
  }
  template <class C, class R, class Base>
  static PublicFunction method(std::string signature, R (Base::*f)(A...) const) {
    return method_of<C>(std::move(signature), f);
  }
  template <class C, class R, class Base>
  static PublicFunction method(std::string signature, R (Base::*f)(A...)) {
    return method_of<C>(std::move(signature), f);
  }

  /// A constructor of C, which has parameters.
  template <class C>
  static PublicFunction constructor(const std::string& type, const std::string& types) {
    const std::string name = type.substr(type.rfind(':') + 1);
    return {as_text(type, "::", name, '(', types, ')'), [](Arguments& arguments) -> DrawnCall {
              return [all = draw_all(arguments)]() mutable {
                return tensors_in(std::apply([](auto&... each) -> C { return C(each...); }, all));
              };
            }};
  }
};

/// A path at which no file is that a reader could take.
inline std::string draw_path(Arguments& a) {
  return a.choice<const char*>({"", "/nowhere/at/all", "/tmp", "/dev/null"});
}

/// An input that fits, and to which a gradient goes.
inline Tensor leaf_of_ones(const Shape& shape) {
  return ones(shape).requires_grad_();
}

/// A function with a call written by hand.
inline PublicFunction by_hand(std::string signature, std::function<DrawnCall(Arguments&)> draw) {
  return {std::move(signature), std::move(draw)};
}

}  // namespace tend::test

// TEND_FUNCTION(sum, const Tensor&, const Dims&, bool), and so on.
#define TEND_FUNCTION(name, ...) \
  ::tend::test::With<__VA_ARGS__>::function(#name "(" #__VA_ARGS__ ")", tend::name)
// The same for one that has a template beside it, and returns a tensor.
#define TEND_TENSOR_FUNCTION(name, ...) \
  ::tend::test::With<__VA_ARGS__>::function<::tend::Tensor>(#name "(" #__VA_ARGS__ ")", tend::name)
#define TEND_METHOD(Class, name, ...)                                                          \
  ::tend::test::With<__VA_ARGS__>::method<tend::Class>(#Class "::" #name "(" #__VA_ARGS__ ")", \
                                                       &tend::Class::name)
#define TEND_CONSTRUCTOR(Class, ...) \
  ::tend::test::With<__VA_ARGS__>::constructor<tend::Class>(#Class, #__VA_ARGS__)
