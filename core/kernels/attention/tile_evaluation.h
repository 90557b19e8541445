// The evaluation of a program in tiles, for the processor at hand.
#pragma once

#include <cstddef>

#include <tend/core/kernels/attention/tile_plan.h>

namespace tend::kernels {

template <class T>
struct TileEvaluation {
  /// Must be called after state.batch or state.head has changed.
  void (*begin_head)(TileState<T>& state);
  /// Must be called for each block of queries.
  void (*begin_block)(TileState<T>& state, std::size_t first, std::size_t count);
  /// Evaluates the program for a tile, and calls sink(first key, keys) after each strip. The
  /// results of the strip are then in state.strip(node). `scores` have a row of kAttentionTile
  /// queries for each key. `grads` have the same layout, and are needed only if the program reads
  /// them.
  void (*evaluate)(TileState<T>& state, const TileRange& tile, const T* scores, const T* grads,
                   FunctionRef<void(std::size_t, std::size_t)> sink);
};

const ForTypes<TileEvaluation>& tile_evaluation();

}  // namespace tend::kernels
