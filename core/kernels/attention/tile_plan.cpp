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

std::vector<bool> needed_nodes(const std::vector<TileNode>& nodes, const std::vector<int>& roots) {
  std::vector<bool> needed(nodes.size(), false);
  for (const int root : roots) needed[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const int input : nodes[i].inputs) needed[static_cast<std::size_t>(input)] = true;
  }
  return needed;
}

TileLevel joined(TileLevel a, TileLevel b) {
  if (a == b || b == TileLevel::head) return a;
  return a == TileLevel::head ? b : TileLevel::pair;
}

template <class T>
TilePlan<T>::TilePlan(const TileProgram& program, const std::vector<int>& roots)
    : program_(&program) {
  sort_by_level(needed_nodes(program.nodes, roots));
  for (const Array& table : program.tables) add_table(table);
}

template <class T>
void TilePlan<T>::sort_by_level(const std::vector<bool>& needed) {
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const TileNode& node = program_->nodes[i];
    TileLevel level = own_level(node.op);
    for (const int input : node.inputs) level = joined(level, this->level(input));
    levels_.push_back(level);
    if (!needed[i]) continue;
    by_level_[static_cast<std::size_t>(level)].push_back(static_cast<int>(i));
    slots_ += level == TileLevel::key ? 2 : 1;
  }
}

template <class T>
void TilePlan<T>::add_table(const Array& table) {
  const Array& dense = contiguous_.emplace_back(table.contiguous());
  TileTable& made = tables_.emplace_back();
  made.data = dense.raw();
  made.sizes = as_int32(dense.shape());
  made.steps = as_int32(dense.strides());
  if (dense.dtype() != int64) return;
  const std::int64_t* first = dense.data<std::int64_t>();
  std::vector<std::int32_t>& indices = index_data_.emplace_back();
  indices.reserve(static_cast<std::size_t>(dense.numel()));
  std::transform(first, first + dense.numel(), std::back_inserter(indices),
                 [](std::int64_t each) { return static_cast<std::int32_t>(each); });
  made.data = indices.data();
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
