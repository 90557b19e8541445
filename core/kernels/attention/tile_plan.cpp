#include <tend/core/kernels/attention/tile_plan.h>

#include <algorithm>
#include <iterator>
#include <utility>

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
TilePlan<T>::TilePlan(const TileProgram& program, const std::vector<int>& roots)
    : program_(&program) {
  std::vector<bool> needed(program.nodes.size(), false);
  for (const int root : roots) needed[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const int input : program.nodes[i].inputs) needed[static_cast<std::size_t>(input)] = true;
  }
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    TileLevel level = own_level(program.nodes[i].op);
    for (const int input : program.nodes[i].inputs) level = joined(level, this->level(input));
    levels_.push_back(level);
    if (!needed[i]) continue;
    by_level_[static_cast<std::size_t>(level)].push_back(static_cast<int>(i));
    slots_ += level == TileLevel::key ? 2 : 1;
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

template <class T>
TileState<T>::TileState(const TilePlan<T>& plan, std::byte* scratch)
    : plan_(&plan), lanes_(plan.program().nodes.size()), strips_(lanes_.size()) {
  for (std::size_t level = 0; level < kTileLevels; ++level) {
    for (const int node : plan.nodes(static_cast<TileLevel>(level))) {
      const auto i = static_cast<std::size_t>(node);
      lanes_[i] = strips_[i] = std::exchange(scratch, scratch + plan.slot_bytes());
      if (plan.level(node) == TileLevel::key) {
        strips_[i] = std::exchange(scratch, scratch + plan.slot_bytes());
      }
      if (plan.program().nodes[i].op == TileOp::score) scores_.push_back(i);
      if (plan.program().nodes[i].op == TileOp::grad) grads_.push_back(i);
    }
  }
}

template <class T>
void TileState<T>::set_inputs(const T* scores, const T* grads) {
  const auto set = [&](const std::vector<std::size_t>& nodes, const T* lanes) {
    auto* const bytes = reinterpret_cast<std::byte*>(const_cast<T*>(lanes));
    for (const std::size_t i : nodes) strips_[i] = bytes;
  };
  set(scores_, scores);
  set(grads_, grads);
}

template class TileState<float>;
template class TileState<double>;
template class TilePlan<float>;
template class TilePlan<double>;

}  // namespace tend::kernels
