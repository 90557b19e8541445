// What a program of truth can give over a whole tile: where it is false throughout, attention skips
// the tile, and where it is true throughout, it needs no evaluation.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/core/kernels/attention/tile_program.h>

namespace tend::kernels {

/// The numbers of an interval, both ends included.
struct IndexRange {
  std::int64_t low = 0, high = 0;

  bool operator==(const IndexRange&) const = default;
};

/// The places of a tile.
struct TilePlaces {
  IndexRange batch, head, query, key;
};

/// What a mask leaves of a tile.
enum class TileCoverage : std::uint8_t {
  empty,    ///< false everywhere
  full,     ///< true everywhere; no look-up misses its table and no index is divided by 0
  partial,  ///< anything else, or unknown
};

/// Interval arithmetic over a mask program: what it gives in a tile, without evaluating it for each
/// pair of query and key.
class TileBounds {
 public:
  /// What is known of a node.
  struct Bound {
    IndexRange range;  // of an index, or of a truth value, 0 or 1
    bool has_range = true;
  };

  /// Of the first result of a program, which must outlive the bounds.
  explicit TileBounds(const TileProgram& program);

  /// `bounds` is memory that calls may share.
  TileCoverage coverage(const TilePlaces& places, std::vector<Bound>& bounds) const;

 private:
  /// The smallest and largest element of each block of a table's last dimension, and of all.
  struct Extremes {
    std::int64_t row_blocks = 0;
    std::vector<IndexRange> blocks;
    IndexRange all;
  };
  static Extremes find_extremes(const Array& table);
  Bound index_bound(const TileNode& node, const std::vector<Bound>& before, bool& may_fail) const;
  Bound bound(const TileNode& node, const std::vector<Bound>& before, const TilePlaces& places,
              bool& may_fail) const;
  Bound look_up(const TileNode& node, const std::vector<Bound>& before, bool& may_fail) const;

  const TileProgram* program_;
  std::vector<Extremes> extremes_;
};

}  // namespace tend::kernels
