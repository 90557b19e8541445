// The score and mask functions of an attention, as one thread evaluates them in the tiles of a
// head.
#pragma once

#include <optional>
#include <vector>

#include <tend/core/kernels/attention/attention_backward.h>
#include <tend/core/kernels/attention/attention_head.h>
#include <tend/core/kernels/attention/tile_bounds.h>
#include <tend/core/kernels/attention/tile_plan.h>

namespace tend::kernels {

/// The plans that all tasks of one call share.
template <class T>
struct FunctionPlans {
  /// With a `derivative`, `tables` are the arrays for the gradients of the score program's tables,
  /// in the same order. An array is undefined if the gradient is not wanted.
  FunctionPlans(const AttentionFunctions& functions, const ScoreDerivative* derivative,
                const std::vector<Array>& tables);

  bool empty() const { return !score && !mask; }

  std::optional<TilePlan<T>> score, mask, gradient;
  std::optional<TileBounds> bounds;  // bounds on the mask's results
  const std::vector<int>* lookups = nullptr;
};

template <class T>
class HeadFunctions {
 public:
  explicit HeadFunctions(const FunctionPlans<T>& plans);

  /// `heads` is the number of heads in a batch.
  void begin_head(std::int64_t index, std::int64_t heads);
  /// Sets whether hidden tiles may be skipped. This is allowed if all values are finite, so that
  /// their products with zero weights are zero.
  void allow_skipping(bool allowed) { may_skip_ = allowed; }
  void begin_block(std::size_t first, std::size_t count);
  /// True if the tile may be skipped. Otherwise, `apply` must be called next for the same
  /// tile, because `apply` uses results of `skips`.
  bool skips(const TileRange& tile);
  bool changes_scores() const { return score_.has_value(); }
  /// Replaces the scores by the results of the score function, and marks visible ones in `visible`.
  void apply(const TileRange& tile, T* scores, TileBits& visible);
  /// Replaces the gradients of the score function's results by the gradients of the scores. Adds
  /// the gradients of the function's tables to `tables`, which are in the order of the program. An
  /// address is nullptr if the gradient is not wanted.
  void apply_gradient(const TileRange& tile, const T* scores, const TileBits& visible, T* grads,
                      const std::vector<double*>& tables);

  /// The first visible position at which a look-up was outside of its table or an index was divided
  /// by 0. It is query * keys + key in the head of the last begin_head, or -1 without such a
  /// position.
  std::int64_t fault(std::size_t keys) const;

 private:
  void find_faults(const TileRange& tile, const TileBits& visible, const TileState<T>& state);

  const FunctionPlans<T>* plans_;
  Array scratch_;
  std::optional<TileState<T>> score_, mask_, gradient_;
  TilePositions positions_;
  TileCoverage coverage_ = TileCoverage::full;
  bool may_skip_ = false;
  std::vector<TileBounds::Bound> bounds_;
  // The first bad look-up or division by 0.
  bool has_fault_ = false;
  std::size_t fault_query_ = 0, fault_key_ = 0;
};

}  // namespace tend::kernels
