/// \file
/// Score and mask functions.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <tend/attention/expressions/expr.h>

namespace tend::attention {

struct TracedFunction;

/// What becomes of a scaled score: f(score, at) with `at` a Position. As PyTorch's score_mod.
class ScoreFunction {
 public:
  /// The score as it is.
  ScoreFunction() = default;
  /// Calls f once, here, and keeps what it did as a program, not f itself: f may capture by
  /// reference. DTypeError unless the result is a number; errors of Expr and lookup.
  template <class F>
  requires(std::invocable<const F&, Expr, Position> && !std::same_as<F, ScoreFunction>)
      ScoreFunction(F f) {
    const auto call = [](const void* function, const Expr& score, const Position& at) {
      return Expr((*static_cast<const F*>(function))(score, at));
    };
    trace(&f, call);
  }

  /// For use in another function. DTypeError unless the score is a number, and the position has
  /// indices.
  Expr operator()(const Expr& score, const Position& at) const;

  /// nullptr for the score as it is.
  const std::shared_ptr<const TracedFunction>& traced() const noexcept { return traced_; }

 private:
  void trace(const void* function, Expr (*call)(const void*, const Expr&, const Position&));

  std::shared_ptr<const TracedFunction> traced_;
};

/// Where a query may attend: f(at) is true there. As PyTorch's mask_mod.
class MaskFunction {
 public:
  /// Everywhere.
  MaskFunction() = default;
  /// Calls f once, here, as ScoreFunction does. DTypeError unless the result is a truth value.
  template <class F>
  requires(std::invocable<const F&, Position> && !std::same_as<F, MaskFunction>) MaskFunction(F f) {
    const auto call = [](const void* function, const Position& at) {
      return Expr((*static_cast<const F*>(function))(at));
    };
    trace(&f, call);
  }

  /// For use in another function. DTypeError unless the position has indices.
  Expr operator()(const Position& at) const;

  /// nullptr for everywhere.
  const std::shared_ptr<const TracedFunction>& traced() const noexcept { return traced_; }

 private:
  void trace(const void* function, Expr (*call)(const void*, const Position&));

  std::shared_ptr<const TracedFunction> traced_;
};

/// second(first(score, at), at). The order matters: bias + soft_cap caps the sum.
ScoreFunction operator+(const ScoreFunction& first, const ScoreFunction& second);

///@{
/// Where both, one of both, or the mask not, let a query attend.
MaskFunction operator&&(const MaskFunction& a, const MaskFunction& b);
MaskFunction operator||(const MaskFunction& a, const MaskFunction& b);
MaskFunction operator!(const MaskFunction& a);
///@}

///@{
/// `function` for queries that stand behind `offset` cached keys: it is given query + offset, as
/// flex_attention numbers queries and keys from 0 each. Error for an offset beyond int32.
ScoreFunction with_offset(const ScoreFunction& function, std::int64_t offset);
MaskFunction with_offset(const MaskFunction& function, std::int64_t offset);
///@}

///@{
/// PyTorch's names of && and || of masks, for one or more functions of a position: two lambdas have
/// no && of their own.
template <std::convertible_to<MaskFunction>... More>
MaskFunction and_masks(const MaskFunction& first, const More&... more) {
  return (first && ... && MaskFunction(more));
}
template <std::convertible_to<MaskFunction>... More>
MaskFunction or_masks(const MaskFunction& first, const More&... more) {
  return (first || ... || MaskFunction(more));
}
///@}

}  // namespace tend::attention
