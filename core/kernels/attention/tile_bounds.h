// Bounds on the results of a mask program in a whole tile. If the mask is false everywhere,
// attention skips the tile. If it is true everywhere, the tile needs no evaluation.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/core/kernels/attention/tile_program.h>

namespace tend::kernels {

/// An interval of numbers, both ends included.
struct IndexRange {
  std::int64_t low = 0, high = 0;

  bool operator==(const IndexRange&) const = default;
};

/// The positions of a tile.
struct TilePositions {
  IndexRange batch, head, query, key;
};

/// The part of a tile that is visible.
enum class TileCoverage : std::uint8_t {
  empty,    ///< the mask is false everywhere
  full,     ///< the mask is true everywhere, and has no look-up outside a table or division by 0
  partial,  ///< anything else, or unknown
};

/// Interval arithmetic over a mask program. It bounds the results in a tile, without evaluating the
/// program for each pair of query and key.
class TileBounds {
 public:
  /// What is known about the values of a node.
  struct Bound {
    IndexRange range;  // of an index, or of a truth value, which is 0 or 1
    bool has_range = true;
  };

  /// Bounds the first result of a program. The program must outlive the object.
  explicit TileBounds(const TileProgram& program);

  /// The part of the tile at `positions` that is visible. `bounds` is scratch memory: pass the same
  /// vector to successive calls to avoid allocations.
  TileCoverage coverage(const TilePositions& positions, std::vector<Bound>& bounds) const;

 private:
  /// The smallest and largest element of each block of a table's last dimension, and of the whole
  /// table.
  struct Extremes {
    std::int64_t row_blocks = 0;
    std::vector<IndexRange> blocks;
    IndexRange all;
  };
  static Extremes find_extremes(const Array& table);
  Bound index_bound(const TileNode& node, const std::vector<Bound>& before, bool& may_fail) const;
  Bound bound(const TileNode& node, const std::vector<Bound>& before,
              const TilePositions& positions, bool& may_fail) const;
  Bound look_up(const TileNode& node, const std::vector<Bound>& before, bool& may_fail) const;

  const TileProgram* program_;
  std::vector<Extremes> extremes_;
};

}  // namespace tend::kernels
