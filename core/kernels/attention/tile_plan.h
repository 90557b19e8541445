// How a program is evaluated in the tiles of attention. A tile has 64 queries and up to 64 keys.
// The values of a node have a row for each key and a lane for each query.
//
// Each node is computed as rarely as its inputs allow (TileLevel): once for a head, for a block of
// queries, or for all keys of a tile. Only nodes of TileLevel::pair are computed for each pair of
// query and key. They are computed in strips of four rows, so that all their values stay in the
// cache. Truth values are one 64-bit word for each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tend/core/base/function_ref.h>
#include <tend/core/kernels/attention/attention_head.h>
#include <tend/core/kernels/attention/tile_program.h>
#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// What a node's value depends on, apart from the batch and the head: nothing (`head`), the query,
/// the key, or both (`pair`). The level determines how often the node is evaluated.
enum class TileLevel : std::uint8_t { head, query, key, pair };
inline constexpr std::size_t kTileLevels = 4;

/// True for each node that the nodes `roots` need, and for the roots.
std::vector<bool> needed_nodes(const std::vector<TileNode>& nodes, const std::vector<int>& roots);

/// The level of a value that depends on a value of level a and a value of level b.
TileLevel joined(TileLevel a, TileLevel b);

/// The number of rows of a tile, one for each key, that are evaluated at once.
inline constexpr std::size_t kStripRows = 4;
inline constexpr std::size_t kStripLanes = kStripRows * kAttentionTile;

/// A table. Element (i, j, ...) is data[i * steps[0] + j * steps[1] + ...].
struct TileTable {
  const void* data = nullptr;  // T, int32_t or bool
  std::vector<std::int32_t> sizes, steps;
};

/// The nodes that `roots` need, sorted by level, and the tables in the form that the loops read.
/// The program must outlive the plan.
template <class T>
class TilePlan {
 public:
  TilePlan(const TileProgram& program, const std::vector<int>& roots);

  const TileProgram& program() const { return *program_; }
  const std::vector<int>& nodes(TileLevel level) const {
    return by_level_[static_cast<std::size_t>(level)];
  }
  TileLevel level(int node) const { return levels_[static_cast<std::size_t>(node)]; }
  const TileTable& table(int index) const { return tables_[static_cast<std::size_t>(index)]; }
  /// The number of bytes for a node's lanes. It is a little larger than necessary: if the lanes of
  /// two nodes were a multiple of 4096 bytes apart, reads would wait for writes.
  static constexpr std::size_t slot_bytes() { return kStripLanes * sizeof(T) + 64; }
  std::size_t scratch_bytes() const { return slots_ * slot_bytes(); }

 private:
  void sort_by_level(const std::vector<bool>& needed);
  void add_table(const Array& table);

  const TileProgram* program_;
  std::vector<TileLevel> levels_;
  std::vector<int> by_level_[kTileLevels];
  std::size_t slots_ = 0;
  std::vector<TileTable> tables_;
  std::vector<Array> contiguous_;                      // the tables, made contiguous
  std::vector<std::vector<std::int32_t>> index_data_;  // the elements of int64 tables
};

/// The lanes at which a look-up was outside of its table, or an index was divided by 0.
struct TileFaults {
  std::uint64_t queries = 0;  // a bit for each query: there is a fault at every key
  std::uint64_t keys = 0;     // a bit for each key: there is a fault at every query
  std::uint64_t pairs[kAttentionTile] = {};
  bool any = false;

  /// The queries that have a fault at the given key of the tile: a bit for each query.
  std::uint64_t at(std::size_t key) const {
    return (keys >> key & 1) != 0 ? ~std::uint64_t{0} : queries | pairs[key];
  }
};

/// The state of one thread that evaluates a plan.
template <class T>
class TileState {
 public:
  /// `scratch` has plan.scratch_bytes() bytes.
  TileState(const TilePlan<T>& plan, std::byte* scratch);

  const TilePlan<T>& plan() const { return *plan_; }
  const TileNode& node(int i) const { return plan_->program().nodes[static_cast<std::size_t>(i)]; }

  /// The addresses of each node's values, which are T, int32_t, or one bit each. A node is computed
  /// at `lanes`, and nodes of TileLevel::pair read it at `strips`. The two differ only for
  /// TileLevel::key: there `lanes` has one value for each key, and `strips` repeats it along a row.
  std::byte* const* lanes() const { return lanes_.data(); }
  std::byte* const* strips() const { return strips_.data(); }
  std::byte* strip(int i) const { return strips_[static_cast<std::size_t>(i)]; }
  /// Sets the values of the nodes `score` and `grad`.
  void set_inputs(const T* scores, const T* grads);

  std::int32_t batch = 0, head = 0;
  std::uint64_t head_faults = 0, query_faults = 0;  // query_faults includes head_faults
  TileFaults faults;                                // the faults of the last tile

 private:
  const TilePlan<T>* plan_;
  std::vector<std::byte*> lanes_, strips_;
  std::vector<std::size_t> scores_, grads_;  // the nodes `score` and `grad`
};

}  // namespace tend::kernels
