// From a function's type to a call with hostile arguments.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/hostile/functions.h"

namespace tend::test {

// What is drawn for types that are more than one value.
std::string_view draw_equation(Arguments& arguments);
TensorFunction draw_function(Arguments& arguments);
TensorHook draw_hook(Arguments& arguments);
nn::StateDict draw_state(Arguments& arguments);
attention::AttentionOptions draw_attention_options(Arguments& arguments);
attention::FlexOptions draw_flex_options(Arguments& arguments);
attention::GPTConfig draw_config(Arguments& arguments);

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
/// Parameters that take a T, and what else.
template <class T>
struct Takes : std::type_identity<void> {};
template <class T>
struct Takes<OrWord<T>> : std::type_identity<T> {};
template <class T>
struct Takes<Exactly<T>> : std::type_identity<T> {};

/// A generator is drawn by reference.
template <class T>
using Drawn = std::conditional_t<std::is_same_v<std::remove_cvref_t<T>, Generator>,
                                 std::reference_wrapper<Generator>, std::remove_cvref_t<T>>;

/// An argument of type T.
template <class T>
Drawn<T> drawn(Arguments& a) {
  using Value = std::remove_cvref_t<T>;
  const auto is = []<class U>(TypeTag<U>) { return std::is_same_v<Value, U>; };
  if constexpr (is(TypeTag<Tensor>{})) {
    return a.tensor();
  } else if constexpr (is(TypeTag<Array>{})) {
    const Tensor x = a.tensor();
    return x.defined() ? x.array() : Array();
  } else if constexpr (is(TypeTag<std::vector<Tensor>>{})) {
    return a.tensors(4);
  } else if constexpr (is(TypeTag<Generator>{})) {
    return std::ref(a.generator());
  } else if constexpr (is(TypeTag<Flag>{})) {
    return Flag(a.flag());
  } else if constexpr (is(TypeTag<Integer>{})) {
    return Integer(a.integer());
  } else if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(a.integer());
  } else if constexpr (std::is_floating_point_v<Value>) {
    return a.real();
  } else if constexpr (is(TypeTag<Scalar>{})) {
    return a.scalar();
  } else if constexpr (is(TypeTag<DType>{})) {
    return a.dtype();
  } else if constexpr (is(TypeTag<Shape>{})) {
    return a.draws().chance(0.5) ? a.sizes() : a.dims();
  } else if constexpr (is(TypeTag<Dims>{})) {
    return Dims(a.dims());
  } else if constexpr (IsOptional<Value>::value) {
    using Inner = typename Value::value_type;
    return a.draws().chance(0.3) ? (a.say("nullopt"), Value()) : Value(drawn<Inner>(a));
  } else if constexpr (!std::is_void_v<typename Takes<Value>::type>) {
    return drawn<typename Takes<Value>::type>(a);
  } else if constexpr (is(TypeTag<std::string_view>{})) {
    return draw_equation(a);
  } else if constexpr (is(TypeTag<TensorFunction>{})) {
    return draw_function(a);
  } else if constexpr (is(TypeTag<TensorHook>{})) {
    return draw_hook(a);
  } else if constexpr (is(TypeTag<nn::StateDict>{})) {
    return draw_state(a);
  } else if constexpr (is(TypeTag<GeluKind>{})) {
    return a.one_of(GeluKind::tanh);
  } else if constexpr (is(TypeTag<Interpolation>{})) {
    return a.one_of(Interpolation::midpoint);
  } else if constexpr (is(TypeTag<MeshIndexing>{})) {
    return a.one_of(MeshIndexing::xy);
  } else if constexpr (is(TypeTag<RoundingMode>{})) {
    return a.one_of(RoundingMode::floor);
  } else if constexpr (is(TypeTag<ScatterReduction>{})) {
    return a.one_of(ScatterReduction::amin);
  } else if constexpr (is(TypeTag<Reduction>{})) {
    return a.one_of(Reduction::sum);
  } else if constexpr (is(TypeTag<KlReduction>{})) {
    return a.one_of(KlReduction::batchmean);
  } else if constexpr (is(TypeTag<PadMode>{})) {
    return a.one_of(PadMode::circular);
  } else if constexpr (is(TypeTag<nn::init::Fan>{})) {
    return a.one_of(nn::init::Fan::out);
  } else if constexpr (is(TypeTag<nn::init::Nonlinearity>{})) {
    return a.one_of(nn::init::Nonlinearity::selu);
  } else if constexpr (is(TypeTag<attention::Draw>{})) {
    return a.one_of(attention::Draw::normal);
  } else if constexpr (is(TypeTag<TensorOptions>{})) {
    return TensorOptions{drawn<std::optional<DType>>(a), a.flag()};
  } else if constexpr (is(TypeTag<nn::LinearOptions>{})) {
    return nn::LinearOptions{a.flag()};
  } else if constexpr (is(TypeTag<CrossEntropyOptions>{})) {
    return CrossEntropyOptions{a.integer(), a.one_of(Reduction::sum), a.real()};
  } else if constexpr (is(TypeTag<NllLossOptions>{})) {
    return NllLossOptions{a.integer(), a.one_of(Reduction::sum)};
  } else if constexpr (is(TypeTag<KlDivOptions>{})) {
    return KlDivOptions{a.one_of(KlReduction::batchmean), a.flag()};
  } else if constexpr (is(TypeTag<TripletMarginLossOptions>{})) {
    return TripletMarginLossOptions{a.real(), a.real(), a.real(), a.flag(),
                                    a.one_of(Reduction::sum)};
  } else if constexpr (is(TypeTag<PoissonNllLossOptions>{})) {
    return PoissonNllLossOptions{a.flag(), a.flag(), a.real(), a.one_of(Reduction::sum)};
  } else if constexpr (is(TypeTag<GaussianNllLossOptions>{})) {
    return GaussianNllLossOptions{a.flag(), a.real(), a.one_of(Reduction::sum)};
  } else if constexpr (is(TypeTag<Conv1dOptions>{})) {
    return Conv1dOptions{a.integer(), a.integer(), a.integer(), a.integer()};
  } else if constexpr (is(TypeTag<nn::Conv1dLayerOptions>{})) {
    return nn::Conv1dLayerOptions{a.integer(), a.integer(), a.integer(), a.integer(), a.flag()};
  } else if constexpr (is(TypeTag<BatchNormOptions>{})) {
    return BatchNormOptions{a.flag(), a.real(), a.real()};
  } else if constexpr (is(TypeTag<nn::BatchNorm1dOptions>{})) {
    return nn::BatchNorm1dOptions{a.real(), drawn<std::optional<double>>(a), a.flag(), a.flag()};
  } else if constexpr (is(TypeTag<attention::AttentionOptions>{})) {
    return draw_attention_options(a);
  } else if constexpr (is(TypeTag<attention::RotaryOptions>{})) {
    return attention::RotaryOptions{a.real(), drawn<std::optional<std::int64_t>>(a), a.flag()};
  } else if constexpr (is(TypeTag<attention::FlexOptions>{})) {
    return draw_flex_options(a);
  } else if constexpr (is(TypeTag<attention::GPTConfig>{})) {
    return draw_config(a);
  } else if constexpr (is(TypeTag<autograd::GradOptions>{})) {
    return autograd::GradOptions{a.flag(), a.flag(), a.flag()};
  } else if constexpr (is(TypeTag<autograd::CheckpointOptions>{})) {
    return autograd::CheckpointOptions{a.flag()};
  } else if constexpr (is(TypeTag<GradcheckOptions>{})) {
    return GradcheckOptions{a.real(), a.real(),    a.real(),
                            a.real(), a.integer(), static_cast<int>(a.draws().between(-1, 3))};
  } else if constexpr (is(TypeTag<autograd::LeafNames>{})) {
    const nn::StateDict named = draw_state(a);
    return autograd::LeafNames(named.begin(), named.end());
  } else if constexpr (is(TypeTag<nn::ClipGradNormOptions>{})) {
    return nn::ClipGradNormOptions{a.real(), a.flag()};
  } else if constexpr (is(TypeTag<optim::SGDOptions>{})) {
    return optim::SGDOptions{a.real(), a.real(), a.real(), a.real(), a.flag(), a.flag()};
  } else if constexpr (is(TypeTag<optim::AdamOptions>{})) {
    return optim::AdamOptions{a.real(), {a.real(), a.real()}, a.real(), a.real(), a.flag(),
                              a.flag()};
  } else if constexpr (is(TypeTag<optim::RMSpropOptions>{})) {
    return optim::RMSpropOptions{a.real(), a.real(), a.real(), a.real(),
                                 a.real(), a.flag(), a.flag()};
  } else if constexpr (is(TypeTag<optim::AdagradOptions>{})) {
    return optim::AdagradOptions{a.real(), a.real(), a.real(), a.real(), a.real(), a.flag()};
  } else if constexpr (is(TypeTag<optim::MuonOptions>{})) {
    return optim::MuonOptions{a.real(),
                              a.real(),
                              a.real(),
                              a.flag(),
                              a.real(),
                              a.integer(),
                              a.one_of(optim::MuonAdjust::match_rms_adamw)};
  } else if constexpr (is(TypeTag<optim::LBFGSOptions>{})) {
    return optim::LBFGSOptions{a.real(),
                               a.choice<std::int64_t>({-1, 0, 1, 2, 9}),
                               drawn<std::optional<std::int64_t>>(a),
                               a.real(),
                               a.real(),
                               a.integer(),
                               a.one_of(optim::LineSearch::strong_wolfe)};
  } else if constexpr (is(TypeTag<optim::LionOptions>{})) {
    return optim::LionOptions{a.real(), {a.real(), a.real()}, a.real()};
  } else {
    static_assert(is(TypeTag<optim::AdamWOptions>{}), "nothing is drawn for this type");
    return optim::AdamWOptions{a.real(), {a.real(), a.real()}, a.real(), a.real(), a.flag(),
                               a.flag()};
  }
}

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
