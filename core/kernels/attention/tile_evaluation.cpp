#include <tend/core/kernels/attention/tile_evaluation.h>

#include <algorithm>
#include <cstring>

#include <tend/core/kernels/attention/tile_plan.h>
#include <tend/core/kernels/simd/simd_targets.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention/tile_evaluation.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <tend/core/kernels/attention/tile_loops.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// Computes n lanes of a node. `values` has the addresses of all nodes' lanes. For the operations
// query and key, `first` is the query or key of lane 0.
template <class T>
void compute(const TileState<T>& state, int index, std::size_t n, std::size_t first,
             std::byte* const* values, std::uint64_t* faults) {
  const TileNode& node = state.node(index);
  Operands lanes{n, values[index], {}};
  if (node.op != TileOp::lookup) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) lanes.in[i] = values[node.inputs[i]];
  }
  const TileType input_type = node.inputs.empty() ? node.type : state.node(node.inputs[0]).type;
  switch (node.op) {
    case TileOp::constant: return fill_constant<T>(node, node.number, n, lanes.out);
    case TileOp::batch: return fill_constant<T>(node, state.batch, n, lanes.out);
    case TileOp::head: return fill_constant<T>(node, state.head, n, lanes.out);
    case TileOp::query:
    case TileOp::key: return count_from(first, n, lanes.out);
    case TileOp::score:
    case TileOp::grad: return;
    case TileOp::lookup:
      return look_up<T>(state.plan().table(node.table), node, values, n, lanes.out, faults);
    case TileOp::floor_div:
    case TileOp::remainder: return divide(node.op == TileOp::remainder, lanes, faults);
    case TileOp::to_real: return to_real(lanes.at<std::int32_t>(0), n, static_cast<T*>(lanes.out));
    case TileOp::eq:
    case TileOp::ne:
    case TileOp::lt:
    case TileOp::le:
      if (input_type == TileType::truth) return combine_truths(node.op, lanes);
      if (input_type == TileType::index) return compare<std::int32_t>(node.op, lanes);
      return compare<T>(node.op, lanes);
    case TileOp::where:
      if (node.type == TileType::truth) return combine_truths(node.op, lanes);
      if (node.type == TileType::index) return choose_lanes<std::int32_t>(lanes);
      return choose_lanes<T>(lanes);
    case TileOp::logical_and:
    case TileOp::logical_or:
    case TileOp::logical_not: return combine_truths(node.op, lanes);
    default: break;
  }
  if (node.type == TileType::index) {
    compute_arithmetic<std::int32_t>(node.op, lanes);
  } else if (!compute_arithmetic<T>(node.op, lanes)) {
    compute_function<T>(node.op, lanes);
  }
}

// Copies the first row of a node's lanes to the other rows of a strip.
template <class T>
void repeat_rows(const TileState<T>& state, int index) {
  std::byte* const first = state.lanes()[index];
  const TileType type = state.node(index).type;
  const std::size_t row = type == TileType::truth   ? sizeof(std::uint64_t)
                          : type == TileType::index ? kAttentionTile * sizeof(std::int32_t)
                                                    : kAttentionTile * sizeof(T);
  for (std::size_t i = 1; i < kStripRows; ++i) std::memcpy(first + i * row, first, row);
}

// Fills row i of a strip with a node's value for the key `key` + i, for `rows` rows.
template <class T>
void spread_keys(const TileState<T>& state, int index, std::size_t key, std::size_t rows) {
  const std::byte* const from = state.lanes()[index];
  std::byte* const to = state.strip(index);
  const auto spread = [&](auto* out, const auto* in) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::fill_n(out + i * kAttentionTile, kAttentionTile, in[key + i]);
    }
  };
  switch (state.node(index).type) {
    case TileType::real: return spread(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from));
    case TileType::index:
      return spread(reinterpret_cast<std::int32_t*>(to),
                    reinterpret_cast<const std::int32_t*>(from));
    case TileType::truth: {
      const std::uint64_t bits = *reinterpret_cast<const std::uint64_t*>(from);
      for (std::size_t i = 0; i < rows; ++i) {
        reinterpret_cast<std::uint64_t*>(to)[i] =
            (bits >> (key + i) & 1) != 0 ? ~std::uint64_t{0} : 0;
      }
    }
  }
}

template <class T>
void compute_level(const TileState<T>& state, TileLevel level, std::size_t first,
                   std::uint64_t* faults) {
  for (const int index : state.plan().nodes(level)) {
    compute<T>(state, index, kAttentionTile, first, state.lanes(), faults);
    if (level != TileLevel::key) repeat_rows(state, index);
  }
}

template <class T>
void begin_head(TileState<T>& state) {
  state.query_faults = 0;
  compute_level(state, TileLevel::head, 0, &state.query_faults);
  // A fault of a node of TileLevel::head is in all lanes. begin_block adds the faults of nodes of
  // TileLevel::query.
  state.head_faults = state.query_faults;
}

template <class T>
void begin_block(TileState<T>& state, std::size_t first, std::size_t count) {
  state.query_faults = state.head_faults;
  compute_level(state, TileLevel::query, first, &state.query_faults);
  state.query_faults &= first_bits(count);
}

template <class T>
void evaluate(TileState<T>& state, const TileRange& tile, const T* scores, const T* grads,
              FunctionRef<void(std::size_t, std::size_t)> sink) {
  const TilePlan<T>& plan = state.plan();
  TileFaults& faults = state.faults;
  faults.queries = state.query_faults;
  faults.keys = 0;
  compute_level(state, TileLevel::key, tile.key, &faults.keys);
  faults.keys &= first_bits(tile.keys);
  faults.any = faults.queries != 0 || faults.keys != 0;
  const std::uint64_t queries = first_bits(tile.queries);
  for (std::size_t key = 0; key < tile.keys; key += kStripRows) {
    const std::size_t rows = std::min(kStripRows, tile.keys - key);
    state.set_inputs(scores ? scores + key * kAttentionTile : nullptr,
                     grads ? grads + key * kAttentionTile : nullptr);
    for (const int index : plan.nodes(TileLevel::key)) spread_keys(state, index, key, rows);
    std::uint64_t own[kStripRows] = {};
    for (const int index : plan.nodes(TileLevel::pair)) {
      compute<T>(state, index, rows * kAttentionTile, 0, state.strips(), own);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      faults.pairs[key + i] = own[i] & queries;
      faults.any = faults.any || faults.pairs[key + i] != 0;
    }
    sink(key, rows);
  }
}

template <class T>
constexpr TileEvaluation<T> evaluation_of() {
  return {begin_head, begin_block, evaluate};
}

const ForTypes<TileEvaluation>& find_tile_evaluation() {
  static constexpr ForTypes<TileEvaluation> kAll = {evaluation_of<float>(),
                                                    evaluation_of<double>()};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_tile_evaluation);

const ForTypes<TileEvaluation>& tile_evaluation() {
  return HWY_DYNAMIC_DISPATCH(find_tile_evaluation)();
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
