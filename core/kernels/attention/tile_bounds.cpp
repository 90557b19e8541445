#include <tend/core/kernels/attention/tile_bounds.h>

#include <algorithm>
#include <cstdlib>

namespace tend::kernels {
namespace {

constexpr std::int64_t kExtremesBlock = 64;
constexpr IndexRange kAnyIndex = {kLeastIndex, kGreatestIndex};
constexpr IndexRange kAnyTruth = {0, 1};

IndexRange join(IndexRange a, IndexRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The range of f(x, y) for x in a and y in b. f must be monotonic in each argument, so that its
/// extremes are at the corners.
template <class F>
IndexRange corners(IndexRange a, IndexRange b, F f) {
  const std::int64_t first = f(a.low, b.low);
  IndexRange range{first, first};
  for (const std::int64_t other : {f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)}) {
    range = join(range, {other, other});
  }
  return range;
}

IndexRange remainder(IndexRange a, IndexRange b) {
  if (b.low == b.high && floor_quotient(a.low, b.low) == floor_quotient(a.high, b.low)) {
    const std::int64_t whole = floor_quotient(a.low, b.low) * b.low;
    return {a.low - whole, a.high - whole};
  }
  return {std::min<std::int64_t>(0, b.low + 1), std::max<std::int64_t>(0, b.high - 1)};
}

IndexRange is_less(IndexRange a, IndexRange b) {
  return {a.high < b.low, a.low < b.high};
}

IndexRange is_equal(IndexRange a, IndexRange b) {
  return {a.low == a.high && a == b, a.low <= b.high && b.low <= a.high};
}

IndexRange absolute(IndexRange a) {
  const std::int64_t low = std::abs(a.low), high = std::abs(a.high);
  return {a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high), std::max(low, high)};
}

IndexRange negated(IndexRange truth) {
  return {1 - truth.high, 1 - truth.low};
}

IndexRange either_of(IndexRange condition, IndexRange a, IndexRange b) {
  if (condition.low == 1) return a;
  return condition.high == 0 ? b : join(a, b);
}

/// The range of an int32 result, given its range without overflow. If the result may overflow, it
/// wraps around and may be any number.
IndexRange within_int32(IndexRange range) {
  return range.low < kLeastIndex || range.high > kGreatestIndex ? kAnyIndex : range;
}

}  // namespace

TileBounds::Extremes TileBounds::find_extremes(const Array& table) {
  Extremes found;
  if (is_floating(table.dtype()) || table.numel() == 0) return found;
  const Array dense = table.contiguous();
  const std::int64_t columns = dense.rank() == 0 ? 1 : dense.size(-1);
  found.row_blocks = (columns + kExtremesBlock - 1) / kExtremesBlock;
  const auto find = [&](const auto* at) {
    for (std::int64_t row = 0; row < dense.numel() / columns; ++row, at += columns) {
      for (std::int64_t first = 0; first < columns; first += kExtremesBlock) {
        const auto* const end = at + std::min(columns, first + kExtremesBlock);
        const auto [low, high] = std::minmax_element(at + first, end);
        found.blocks.push_back({std::int64_t{*low}, std::int64_t{*high}});
      }
    }
  };
  if (dense.dtype() == boolean) {
    find(dense.data<bool>());
  } else {
    find(dense.data<std::int64_t>());
  }
  found.all = found.blocks[0];
  for (const IndexRange& block : found.blocks) found.all = join(found.all, block);
  return found;
}

TileBounds::TileBounds(const TileProgram& program) : program_(&program) {
  for (const Array& table : program.tables) extremes_.push_back(find_extremes(table));
}

TileBounds::Bound TileBounds::look_up(const TileNode& node, const std::vector<Bound>& before,
                                      bool& may_fail) const {
  const Array& table = program_->tables[static_cast<std::size_t>(node.table)];
  const Extremes& extremes = extremes_[static_cast<std::size_t>(node.table)];
  const bool is_real = node.type == TileType::real;
  std::int64_t row = 0;
  bool has_row = true;
  IndexRange column;
  for (std::int64_t d = 0; d < table.rank(); ++d) {
    const IndexRange index =
        before[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(d)])].range;
    if (index.low < 0 || index.high >= table.shape()[d]) {
      may_fail = true;  // a look-up gives 0 outside of its table, and any element inside
      return {node.type == TileType::truth ? kAnyTruth : kAnyIndex, !is_real};
    }
    if (d + 1 == table.rank()) {
      column = index;
    } else {
      has_row = has_row && index.low == index.high;
      row = row * table.shape()[d] + index.low;
    }
  }
  if (is_real) return {{}, false};
  if (!has_row) return {extremes.all};
  const auto block = [&](std::int64_t i) {
    return extremes.blocks[static_cast<std::size_t>(row * extremes.row_blocks + i)];
  };
  IndexRange range = block(column.low / kExtremesBlock);
  for (std::int64_t i = column.low / kExtremesBlock + 1; i <= column.high / kExtremesBlock; ++i) {
    range = join(range, block(i));
  }
  return {range};
}

TileBounds::Bound TileBounds::index_bound(const TileNode& node, const std::vector<Bound>& before,
                                          bool& may_fail) const {
  const auto range = [&](std::size_t i) {
    return before[static_cast<std::size_t>(node.inputs[i])].range;
  };
  switch (node.op) {
    case TileOp::add:
      return {within_int32({range(0).low + range(1).low, range(0).high + range(1).high})};
    case TileOp::sub:
      return {within_int32({range(0).low - range(1).high, range(0).high - range(1).low})};
    case TileOp::mul:
      return {within_int32(corners(range(0), range(1), [](auto a, auto b) { return a * b; }))};
    case TileOp::min:
      return {{std::min(range(0).low, range(1).low), std::min(range(0).high, range(1).high)}};
    case TileOp::max:
      return {{std::max(range(0).low, range(1).low), std::max(range(0).high, range(1).high)}};
    case TileOp::neg: return {within_int32({-range(0).high, -range(0).low})};
    case TileOp::abs: return {within_int32(absolute(range(0)))};
    case TileOp::floor_div:
    case TileOp::remainder:
      if (range(1).low <= 0 && range(1).high >= 0) {
        may_fail = true;
        return {kAnyIndex};
      }
      if (node.op == TileOp::remainder) return {remainder(range(0), range(1))};
      return {within_int32(corners(range(0), range(1), floor_quotient))};
    default: return {kAnyIndex};
  }
}

TileBounds::Bound TileBounds::bound(const TileNode& node, const std::vector<Bound>& before,
                                    const TilePositions& positions, bool& may_fail) const {
  const auto in = [&](std::size_t i) { return before[static_cast<std::size_t>(node.inputs[i])]; };
  const auto range = [&](std::size_t i) { return in(i).range; };
  const bool compares = node.op == TileOp::eq || node.op == TileOp::ne || node.op == TileOp::lt ||
                        node.op == TileOp::le;
  if (compares && !(in(0).has_range && in(1).has_range)) return {kAnyTruth};
  switch (node.op) {
    case TileOp::batch: return {positions.batch};
    case TileOp::head: return {positions.head};
    case TileOp::query: return {positions.query};
    case TileOp::key: return {positions.key};
    case TileOp::lookup: return look_up(node, before, may_fail);
    case TileOp::eq: return {is_equal(range(0), range(1))};
    case TileOp::ne: return {negated(is_equal(range(0), range(1)))};
    case TileOp::lt: return {is_less(range(0), range(1))};
    case TileOp::le: return {negated(is_less(range(1), range(0)))};
    case TileOp::logical_not: return {negated(range(0))};
    case TileOp::logical_and: return {{range(0).low & range(1).low, range(0).high & range(1).high}};
    case TileOp::logical_or: return {{range(0).low | range(1).low, range(0).high | range(1).high}};
    default: break;
  }
  if (node.type == TileType::real) return {{}, false};
  if (node.op == TileOp::where) return {either_of(range(0), range(1), range(2))};
  if (node.op == TileOp::constant) {
    const auto number = static_cast<std::int64_t>(node.number);
    return {{number, number}};
  }
  return index_bound(node, before, may_fail);
}

TileCoverage TileBounds::coverage(const TilePositions& positions,
                                  std::vector<Bound>& bounds) const {
  bounds.clear();
  bool may_fail = false;
  for (const TileNode& node : program_->nodes) {
    bounds.push_back(bound(node, bounds, positions, may_fail));
  }
  const IndexRange range = bounds[static_cast<std::size_t>(program_->results[0])].range;
  if (range.high == 0) return TileCoverage::empty;
  return range.low == 1 && !may_fail ? TileCoverage::full : TileCoverage::partial;
}

}  // namespace tend::kernels
