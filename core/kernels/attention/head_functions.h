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

/// What the tasks of one call share.
template <class T>
struct FunctionPlans {
  /// `tables` are the gradients that are wanted, in the order of the score program's tables,
  /// undefined where not; needed if there is a `derivative`.
  FunctionPlans(const AttentionFunctions& functions, const ScoreDerivative* derivative,
                const std::vector<Array>& tables);

  bool empty() const { return !score && !mask; }

  std::optional<TilePlan<T>> score, mask, gradient;
  std::optional<TileBounds> bounds;  // of the mask
  const std::vector<int>* lookups = nullptr;
};

template <class T>
class HeadFunctions {
 public:
  explicit HeadFunctions(const FunctionPlans<T>& plans);

  /// `heads` is the number of heads in a batch.
  void begin_head(std::int64_t index, std::int64_t heads);
  /// Whether hidden tiles may be skipped, as products with their zero weights are zero.
  void allow_skipping(bool allowed) { may_skip_ = allowed; }
  void begin_block(std::size_t first, std::size_t count);
  /// Whether the tile may be skipped. `apply` must follow for the same tile: it relies on what this
  /// found.
  bool skips(const TileRange& tile);
  bool changes_scores() const { return score_.has_value(); }
  /// Replaces the scores by what the score function makes of them, and finds which are visible.
  void apply(const TileRange& tile, T* scores, TileBits& visible);
  /// Replaces the gradients of what the score function gave by those of the scores, and adds those
  /// of its tables to `tables`, which are in the order of the program's and nullptr where not
  /// wanted.
  void apply_gradient(const TileRange& tile, const T* scores, const TileBits& visible, T* grads,
                      const std::vector<double*>& tables);

  /// The first visible place at which a look-up missed its table or an index was divided by 0,
  /// query * keys + key in the last head; or -1.
  std::int64_t fault(std::size_t keys) const;

 private:
  void note_faults(const TileRange& tile, const TileBits& visible, const TileState<T>& state);

  const FunctionPlans<T>* plans_;
  Array scratch_;
  std::optional<TileState<T>> score_, mask_, gradient_;
  TilePlaces places_;
  TileCoverage coverage_ = TileCoverage::full;
  bool may_skip_ = false;
  std::vector<TileBounds::Bound> bounds_;
  // The first fault.
  bool has_fault_ = false;
  std::size_t fault_query_ = 0, fault_key_ = 0;
};

}  // namespace tend::kernels
