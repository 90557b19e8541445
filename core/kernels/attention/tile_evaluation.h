// The evaluation of a tile program in tiles, for the processor at hand.
#pragma once

#include <cstddef>

#include <tend/core/kernels/attention/tile_plan.h>

namespace tend::kernels {

template <class T>
struct TileEvaluation {
  /// To be called when state.batch and state.head have changed.
  void (*begin_head)(TileState<T>& state);
  /// To be called for each block of queries.
  void (*begin_block)(TileState<T>& state, std::size_t first, std::size_t count);
  /// Evaluates the program for a tile, whose scores, and gradients if it asks for them, have a row
  /// of kAttentionTile queries for each key. Calls sink(first key, keys) for each strip, whose
  /// results then lie in state.strip(node).
  void (*evaluate)(TileState<T>& state, const TileRange& tile, const T* scores, const T* grads,
                   FunctionRef<void(std::size_t, std::size_t)> sink);
};

const ForTypes<TileEvaluation>& tile_evaluation();

}  // namespace tend::kernels
