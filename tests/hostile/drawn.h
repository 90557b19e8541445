// What is drawn for each type of a parameter. Runs are compared by their seeds, so the draws of a
// type and their order stay as they are.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/hostile/arguments.h"

namespace tend::test {

std::string_view draw_equation(Arguments& arguments);

/// A generator is drawn by reference.
template <class T>
using Drawn = std::conditional_t<std::is_same_v<std::remove_cvref_t<T>, Generator>,
                                 std::reference_wrapper<Generator>, std::remove_cvref_t<T>>;

/// An argument of type T.
template <class T>
Drawn<T> drawn(Arguments& a);

// Types that are made of another: OrWord<T> and Exactly<T> take a T.
template <class T>
std::optional<T> draw_as(TypeTag<std::optional<T>>, Arguments& a);
template <class T>
OrWord<T> draw_as(TypeTag<OrWord<T>>, Arguments& a);
template <class T>
Exactly<T> draw_as(TypeTag<Exactly<T>>, Arguments& a);

/// The last enumerator of each enumeration, whose first is 0.
inline constexpr std::tuple kLast{GeluKind::tanh,
                                  Interpolation::midpoint,
                                  MeshIndexing::xy,
                                  RoundingMode::floor,
                                  ScatterReduction::amin,
                                  Reduction::sum,
                                  KlReduction::batchmean,
                                  PadMode::circular,
                                  nn::init::Fan::out,
                                  nn::init::Nonlinearity::selu,
                                  attention::Draw::normal,
                                  optim::MuonAdjust::match_rms_adamw,
                                  optim::LineSearch::strong_wolfe};

// draw_as(TypeTag<T>, a) for types that stand for themselves. Braces make the evaluation go from
// left to right.

inline Tensor draw_as(TypeTag<Tensor>, Arguments& a) {
  return a.tensor();
}
inline Array draw_as(TypeTag<Array>, Arguments& a) {
  const Tensor x = a.tensor();
  return x.defined() ? x.array() : Array();
}
inline std::vector<Tensor> draw_as(TypeTag<std::vector<Tensor>>, Arguments& a) {
  return a.tensors(4);
}
inline std::reference_wrapper<Generator> draw_as(TypeTag<Generator>, Arguments& a) {
  return a.generator();
}
inline Flag draw_as(TypeTag<Flag>, Arguments& a) {
  return a.flag();
}
inline Integer draw_as(TypeTag<Integer>, Arguments& a) {
  return a.integer();
}
inline Scalar draw_as(TypeTag<Scalar>, Arguments& a) {
  return a.scalar();
}
inline DType draw_as(TypeTag<DType>, Arguments& a) {
  return a.dtype();
}
inline Shape draw_as(TypeTag<Shape>, Arguments& a) {
  return a.draws().chance(0.5) ? a.sizes() : a.dims();
}
inline Dims draw_as(TypeTag<Dims>, Arguments& a) {
  return Dims(a.dims());
}
inline std::string_view draw_as(TypeTag<std::string_view>, Arguments& a) {
  return draw_equation(a);
}
TensorFunction draw_as(TypeTag<TensorFunction>, Arguments& arguments);
TensorHook draw_as(TypeTag<TensorHook>, Arguments& arguments);
nn::StateDict draw_as(TypeTag<nn::StateDict>, Arguments& arguments);

inline TensorOptions draw_as(TypeTag<TensorOptions>, Arguments& a) {
  return TensorOptions{drawn<std::optional<DType>>(a), a.flag()};
}
inline nn::LinearOptions draw_as(TypeTag<nn::LinearOptions>, Arguments& a) {
  return {a.flag()};
}
inline CrossEntropyOptions draw_as(TypeTag<CrossEntropyOptions>, Arguments& a) {
  return {a.integer(), drawn<Reduction>(a), a.real()};
}
inline NllLossOptions draw_as(TypeTag<NllLossOptions>, Arguments& a) {
  return {a.integer(), drawn<Reduction>(a)};
}
inline KlDivOptions draw_as(TypeTag<KlDivOptions>, Arguments& a) {
  return {drawn<KlReduction>(a), a.flag()};
}
inline TripletMarginLossOptions draw_as(TypeTag<TripletMarginLossOptions>, Arguments& a) {
  return {a.real(), a.real(), a.real(), a.flag(), drawn<Reduction>(a)};
}
inline PoissonNllLossOptions draw_as(TypeTag<PoissonNllLossOptions>, Arguments& a) {
  return {a.flag(), a.flag(), a.real(), drawn<Reduction>(a)};
}
inline GaussianNllLossOptions draw_as(TypeTag<GaussianNllLossOptions>, Arguments& a) {
  return {a.flag(), a.real(), drawn<Reduction>(a)};
}
inline Conv1dOptions draw_as(TypeTag<Conv1dOptions>, Arguments& a) {
  return {a.integer(), a.integer(), a.integer(), a.integer()};
}
inline nn::Conv1dLayerOptions draw_as(TypeTag<nn::Conv1dLayerOptions>, Arguments& a) {
  return {a.integer(), a.integer(), a.integer(), a.integer(), a.flag()};
}
inline BatchNormOptions draw_as(TypeTag<BatchNormOptions>, Arguments& a) {
  return {a.flag(), a.real(), a.real()};
}
inline nn::BatchNorm1dOptions draw_as(TypeTag<nn::BatchNorm1dOptions>, Arguments& a) {
  return {a.real(), drawn<std::optional<double>>(a), a.flag(), a.flag()};
}
inline nn::ClipGradNormOptions draw_as(TypeTag<nn::ClipGradNormOptions>, Arguments& a) {
  return {a.real(), a.flag()};
}

attention::AttentionOptions draw_as(TypeTag<attention::AttentionOptions>, Arguments& arguments);
attention::FlexOptions draw_as(TypeTag<attention::FlexOptions>, Arguments& arguments);
attention::GPTConfig draw_as(TypeTag<attention::GPTConfig>, Arguments& arguments);
inline attention::RotaryOptions draw_as(TypeTag<attention::RotaryOptions>, Arguments& a) {
  return {a.real(), drawn<std::optional<std::int64_t>>(a), a.flag()};
}

inline autograd::GradOptions draw_as(TypeTag<autograd::GradOptions>, Arguments& a) {
  return {a.flag(), a.flag(), a.flag()};
}
inline autograd::CheckpointOptions draw_as(TypeTag<autograd::CheckpointOptions>, Arguments& a) {
  return {a.flag()};
}
inline GradcheckOptions draw_as(TypeTag<GradcheckOptions>, Arguments& a) {
  return {a.real(), a.real(),    a.real(),
          a.real(), a.integer(), static_cast<int>(a.draws().between(-1, 3))};
}
inline autograd::LeafNames draw_as(TypeTag<autograd::LeafNames>, Arguments& a) {
  const auto named = drawn<nn::StateDict>(a);
  return {named.begin(), named.end()};
}

inline optim::SGDOptions draw_as(TypeTag<optim::SGDOptions>, Arguments& a) {
  return {a.real(), a.real(), a.real(), a.real(), a.flag(), a.flag()};
}
inline optim::AdamOptions draw_as(TypeTag<optim::AdamOptions>, Arguments& a) {
  return {a.real(), {a.real(), a.real()}, a.real(), a.real(), a.flag(), a.flag()};
}
inline optim::AdamWOptions draw_as(TypeTag<optim::AdamWOptions>, Arguments& a) {
  return {a.real(), {a.real(), a.real()}, a.real(), a.real(), a.flag(), a.flag()};
}
inline optim::RMSpropOptions draw_as(TypeTag<optim::RMSpropOptions>, Arguments& a) {
  return {a.real(), a.real(), a.real(), a.real(), a.real(), a.flag(), a.flag()};
}
inline optim::AdagradOptions draw_as(TypeTag<optim::AdagradOptions>, Arguments& a) {
  return {a.real(), a.real(), a.real(), a.real(), a.real(), a.flag()};
}
inline optim::MuonOptions draw_as(TypeTag<optim::MuonOptions>, Arguments& a) {
  return {
      a.real(), a.real(), a.real(), a.flag(), a.real(), a.integer(), drawn<optim::MuonAdjust>(a)};
}
inline optim::LBFGSOptions draw_as(TypeTag<optim::LBFGSOptions>, Arguments& a) {
  return {a.real(),
          a.choice<std::int64_t>({-1, 0, 1, 2, 9}),
          drawn<std::optional<std::int64_t>>(a),
          a.real(),
          a.real(),
          a.integer(),
          drawn<optim::LineSearch>(a)};
}
inline optim::LionOptions draw_as(TypeTag<optim::LionOptions>, Arguments& a) {
  return {a.real(), {a.real(), a.real()}, a.real()};
}

template <class T>
std::optional<T> draw_as(TypeTag<std::optional<T>>, Arguments& a) {
  if (!a.draws().chance(0.3)) return drawn<T>(a);
  a.say("nullopt");
  return std::nullopt;
}
template <class T>
OrWord<T> draw_as(TypeTag<OrWord<T>>, Arguments& a) {
  return drawn<T>(a);
}
template <class T>
Exactly<T> draw_as(TypeTag<Exactly<T>>, Arguments& a) {
  return drawn<T>(a);
}

template <class T>
Drawn<T> drawn(Arguments& a) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (requires { draw_as(TypeTag<Value>{}, a); }) {
    return draw_as(TypeTag<Value>{}, a);
  } else if constexpr (std::is_enum_v<Value>) {
    return a.one_of(std::get<Value>(kLast));
  } else if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(a.integer());
  } else {
    static_assert(std::is_floating_point_v<Value>, "nothing is drawn for this type");
    return a.real();
  }
}

}  // namespace tend::test
