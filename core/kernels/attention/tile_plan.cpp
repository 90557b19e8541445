#include <tend/core/kernels/attention/tile_plan.h>

#include <algorithm>

namespace tend::kernels {
namespace {

TileLevel own_level(TileOp op) {
  switch (op) {
    case TileOp::query: return TileLevel::query;
    case TileOp::key: return TileLevel::key;
    case TileOp::score:
    case TileOp::grad: return TileLevel::pair;
    default: return TileLevel::head;
  }
}

std::vector<std::int32_t> as_int32(const Shape& numbers) {
  std::vector<std::int32_t> all;
  for (const std::int64_t each : numbers) all.push_back(static_cast<std::int32_t>(each));
  return all;
}

}  // namespace

TileLevel joined(TileLevel a, TileLevel b) {
  if (a == b || b == TileLevel::head) return a;
  return a == TileLevel::head ? b : TileLevel::pair;
}

template <class T>
TilePlan<T>::TilePlan(const TileProgram& program) : program_(&program) {
  for (const TileNode& node : program.nodes) {
    TileLevel level = own_level(node.op);
    for (const int input : node.inputs) level = joined(level, this->level(input));
    by_level_[static_cast<std::size_t>(level)].push_back(static_cast<int>(levels_.size()));
    levels_.push_back(level);
  }
  for (const Array& table : program.tables) {
    const Array& kept = kept_.emplace_back(table.contiguous());
    TileTable& made = tables_.emplace_back();
    made.data = kept.raw();
    made.sizes = as_int32(kept.shape());
    made.steps = as_int32(kept.strides());
    if (kept.dtype() != int64) continue;
    const std::int64_t* first = kept.data<std::int64_t>();
    std::vector<std::int32_t>& indices = index_data_.emplace_back();
    indices.reserve(static_cast<std::size_t>(kept.numel()));
    std::transform(first, first + kept.numel(), std::back_inserter(indices),
                   [](std::int64_t each) { return static_cast<std::int32_t>(each); });
    made.data = indices.data();
  }
}

template class TilePlan<float>;
template class TilePlan<double>;

}  // namespace tend::kernels
