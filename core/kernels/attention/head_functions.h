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
  /// `tables` are needed if there is a `derivative`. They are the gradients of the score program's
  /// tables, in the same order; a gradient that is not wanted is undefined.
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
  /// Sets whether hidden tiles may be skipped. They may be skipped if products with their zero
  /// weights are zero.
  void allow_skipping(bool allowed) { may_skip_ = allowed; }
  void begin_block(std::size_t first, std::size_t count);
  /// True if the tile may be skipped. If it is not skipped, `apply` must be called for the same
  /// tile, because it uses what this call found.
  bool skips(const TileRange& tile);
  bool changes_scores() const { return score_.has_value(); }
  /// Replaces the scores by the results of the score function, and finds which of them are visible.
  void apply(const TileRange& tile, T* scores, TileBits& visible);
  /// Replaces the gradients of the score function's results by the gradients of the scores. Adds
  /// the gradients of its tables to `tables`, which are in the order of the program. A table whose
  /// gradient is not wanted is nullptr.
  void apply_gradient(const TileRange& tile, const T* scores, const TileBits& visible, T* grads,
                      const std::vector<double*>& tables);

  /// The first visible position in the last head at which a look-up was outside of its table or an
  /// index was divided by 0, as query * keys + key; or -1.
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
