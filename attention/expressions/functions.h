/// \file
/// Score and mask functions.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <tend/attention/expressions/expr.h>

namespace tend::attention {

struct TracedFunction;

/// Changes a scaled score: f(score, at), where `at` is a Position. PyTorch's score_mod.
class ScoreFunction {
 public:
  /// Leaves the score as it is.
  ScoreFunction() = default;
  /// Calls f once, here, and records its operations. f itself is not stored, so it may capture by
  /// reference.
  ///
  /// Throws:
  ///   DTypeError                    - the result is a truth value
  ///   Error, ShapeError, DTypeError - f uses Expr or lookup wrongly; see there
  template <class F>
  requires(std::invocable<const F&, Expr, Position> && !std::same_as<F, ScoreFunction>)
      ScoreFunction(F f) {
    const auto call = [](const void* function, const Expr& score, const Position& at) {
      return Expr((*static_cast<const F*>(function))(score, at));
    };
    trace(&f, call);
  }

  /// Calls this function inside another one.
  ///
  /// Throws: DTypeError - the score is a truth value, or a part of the position is not an index
  Expr operator()(const Expr& score, const Position& at) const;

  /// The recorded function; nullptr if it leaves the score as it is.
  const std::shared_ptr<const TracedFunction>& traced() const noexcept { return traced_; }

 private:
  void trace(const void* function, Expr (*call)(const void*, const Expr&, const Position&));

  std::shared_ptr<const TracedFunction> traced_;
};

/// Says where a query may attend to a key: f(at) is true there. PyTorch's mask_mod.
class MaskFunction {
 public:
  /// True everywhere.
  MaskFunction() = default;
  /// Calls f once, here, as ScoreFunction does.
  ///
  /// Throws:
  ///   DTypeError                    - the result is a number
  ///   Error, ShapeError, DTypeError - f uses Expr or lookup wrongly; see there
  template <class F>
  requires(std::invocable<const F&, Position> && !std::same_as<F, MaskFunction>) MaskFunction(F f) {
    const auto call = [](const void* function, const Position& at) {
      return Expr((*static_cast<const F*>(function))(at));
    };
    trace(&f, call);
  }

  /// Calls this function inside another one.
  ///
  /// Throws: DTypeError - a part of the position is not an index
  Expr operator()(const Position& at) const;

  /// The recorded function; nullptr if it is true everywhere.
  const std::shared_ptr<const TracedFunction>& traced() const noexcept { return traced_; }

 private:
  void trace(const void* function, Expr (*call)(const void*, const Position&));

  std::shared_ptr<const TracedFunction> traced_;
};

/// Applies `first`, then `second`: second(first(score, at), at). The order matters: bias + soft_cap
/// caps the sum.
ScoreFunction operator+(const ScoreFunction& first, const ScoreFunction& second);

///@{
/// Combine masks: true where both masks are true (&&), where at least one is true (||), or where
/// the mask is false (!).
MaskFunction operator&&(const MaskFunction& a, const MaskFunction& b);
MaskFunction operator||(const MaskFunction& a, const MaskFunction& b);
MaskFunction operator!(const MaskFunction& a);
///@}

///@{
/// Returns `function` for queries that follow `offset` cached keys. flex_attention counts queries
/// and keys from 0 each, so `function` receives query + offset.
///
/// Throws: Error - the offset does not fit int32
ScoreFunction with_offset(const ScoreFunction& function, std::int64_t offset);
MaskFunction with_offset(const MaskFunction& function, std::int64_t offset);
///@}

///@{
/// PyTorch's names of && and || of masks, for one or more functions of a position. Use them to
/// combine lambdas, to which && cannot be applied.
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
