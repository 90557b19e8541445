#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <tend/core/kernels/attention/attention.h>
#include <tend/core/kernels/attention/attention_heads.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/simd/fixed_targets.h>
#include <tend/core/threads/parallel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention/attention_backward.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/attention/attention_tile.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The data of a block of queries, with a lane for each query (*_lanes) and with a row for each.
template <class T>
struct Block {
  T *query_lanes, *grad_lanes, *grad_query_lanes;
  T *query, *grad;
  T *weights, *grad_scores;  // of a tile
  T largest[kTile], log_sums[kTile];
  T dots[kTile];  // the dot products of each query's context and its gradient
};

// Before, block.weights holds the scores and block.grad_scores the gradients of the weights after
// dropout, keep_factor included. Afterwards they hold the weights after dropout, without
// keep_factor, and the gradients of the scores.
template <bool kMasked, bool kDropped, class T>
HWY_INLINE void differentiate(bool diagonal, const TileRange& tile, std::size_t lanes,
                              const TileBits& visible, const TileBits& kept,
                              const Block<T>& block) {
  const hn::CappedTag<T, kStep> d;
  const auto hidden = hn::Set(d, -kInfinity<T>);
  for (std::size_t lane = 0; lane < lanes; lane += hn::Lanes(d)) {
    const auto largest = hn::LoadU(d, block.largest + lane);
    const auto log_sum = hn::LoadU(d, block.log_sums + lane);
    const auto dot = hn::LoadU(d, block.dots + lane);
    const std::size_t keys = diagonal ? keys_of_step(tile, lane) : tile.keys;
    for (std::size_t j = 0; j < keys; ++j) {
      T* const weights = block.weights + j * kTile + lane;
      T* const grads = block.grad_scores + j * kTile + lane;
      auto score = hn::Load(d, weights);
      if constexpr (kMasked) {
        score = hn::IfThenElse(lanes_of(d, visible.words[j] >> lane), score, hidden);
      }
      const auto weight = exp_not_positive(d, hn::Sub(hn::Sub(score, largest), log_sum));
      auto grad = hn::Load(d, grads);
      auto weight_left = weight;
      if constexpr (kDropped) {
        const auto left = lanes_of(d, kept.words[j] >> lane);
        grad = hn::IfThenElseZero(left, grad);
        weight_left = hn::IfThenElseZero(left, weight);
      }
      grad = hn::Mul(weight, hn::Sub(grad, dot));
      if constexpr (kMasked) {
        grad = hn::IfThenElseZero(lanes_of(d, visible.words[j] >> lane), grad);
      }
      hn::Store(weight_left, d, weights);
      hn::Store(grad, d, grads);
    }
  }
}

// Adds alpha * weights @ block, a row for each of the tile's keys, to those rows of `rows`.
template <class T>
HWY_INLINE void add_rows(bool diagonal, const TileRange& tile, const T* weights, const T* block,
                         std::size_t cols, T alpha, const HeadMatrix<T>& rows) {
  for_steps(diagonal, tile.keys,
            [&](std::size_t key, std::size_t count, std::size_t lane) HWY_ATTR {
              product<T>({count, cols, tile.queries - lane, weights + key * kTile + lane, kTile, 1,
                          block + lane * cols, cols, panel_width<T>(), rows.at(tile.key + key),
                          rows.row, alpha, T(1)});
            });
}

template <class T>
HWY_INLINE void differentiate_tile(const AttentionHead<T>& head, const TileRange& tile,
                                   std::size_t lanes, Block<T>& block) {
  TileBits visible, kept;
  compute_scores(head, tile, block.query_lanes, lanes, block.weights, visible);
  find_kept(head, tile, kept);
  const bool diagonal = on_diagonal(head, tile);
  rows_by_lanes(diagonal, tile.keys, rows_from(head.value, tile.key), head.value_dim,
                block.grad_lanes, lanes, head.keep_factor, block.grad_scores);
  choose(!visible.all, !kept.all, [&](auto masked, auto dropped) HWY_ATTR {
    differentiate<masked(), dropped()>(diagonal, tile, lanes, visible, kept, block);
  });
  if (head.grad_value.data) {
    add_rows(diagonal, tile, block.weights, block.grad, head.value_dim, head.keep_factor,
             head.grad_value);
  }
  if (head.grad_key.data) {
    add_rows(diagonal, tile, block.grad_scores, block.query, head.dim, head.scale, head.grad_key);
  }
  if (head.grad_query.data) {
    weigh_rows(diagonal, tile.keys, rows_from(head.key, tile.key), head.dim, block.grad_scores,
               lanes, head.scale, block.grad_query_lanes);
  }
}

// Loads queries first to first + count.
template <class T>
HWY_INLINE void load_block(const AttentionHead<T>& head, std::size_t first, std::size_t count,
                           std::size_t lanes, T* HWY_RESTRICT scratch, Block<T>& block) {
  const auto take = [&](std::size_t size) HWY_ATTR {
    T* const begin = scratch;
    scratch += size;
    return begin;
  };
  block.query_lanes = take(head.dim * kTile);
  block.grad_lanes = take(head.value_dim * kTile);
  block.grad_query_lanes = take(head.dim * kTile);
  block.weights = take(kTile * kTile);
  block.grad_scores = take(kTile * kTile);
  block.query = take(head.dim * kTile);
  block.grad = take(head.value_dim * kTile);

  const auto query = rows_from(head.query, first), grad = rows_from(head.grad, first);
  pack(query, count, head.dim, block.query);
  pack(grad, count, head.value_dim, block.grad);
  load_lanes(query, count, head.dim, lanes, block.query_lanes);
  load_lanes(grad, count, head.value_dim, lanes, block.grad_lanes);
  std::fill_n(block.grad_query_lanes, head.dim * kTile, T(0));
  // The weights of lanes without a query are 0.
  std::fill_n(block.largest, kTile, kInfinity<T>);
  std::fill_n(block.log_sums, kTile, T(0));
  std::copy_n(head.log_sums + first, count, block.largest);
  std::copy_n(head.log_sums + head.queries + first, count, block.log_sums);
  std::fill_n(block.dots, kTile, T(0));
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < count; ++i) {
    const T* context = head.out.at(first + i);
    auto sums = hn::Zero(d);
    std::size_t j = 0;
    for (; j + hn::Lanes(d) <= head.value_dim; j += hn::Lanes(d)) {
      sums = hn::MulAdd(hn::LoadU(d, context + j),
                        hn::LoadU(d, block.grad + i * head.value_dim + j), sums);
    }
    T dot = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; j < head.value_dim; ++j) dot += context[j] * block.grad[i * head.value_dim + j];
    block.dots[i] = dot;
  }
}

template <class T>
HWY_INLINE void differentiate_block(const AttentionHead<T>& head, std::size_t first,
                                    std::size_t count, T* scratch) {
  const std::size_t lanes = (count + kStep - 1) / kStep * kStep;
  Block<T> block;
  load_block(head, first, count, lanes, scratch, block);
  const std::size_t end = head.skip_hidden ? std::min(head.keys, first + count) : head.keys;
  for (std::size_t key = 0; key < end; key += kTile) {
    differentiate_tile(head, {first, count, key, std::min(kTile, end - key)}, lanes, block);
  }
  if (head.grad_query.data) {
    store_lanes(block.grad_query_lanes, count, head.dim, head.grad_query, first);
  }
}

// The backward of the blocks first, first + step, ... of queries. Gradients of keys and values
// accumulate in contiguous rows behind the scratch memory of a block, and are copied to the results
// at the end.
template <class T>
void differentiate_head(AttentionHead<T> head, std::size_t first, std::size_t step, T* scratch) {
  T* end = scratch + backward_scratch(head.dim, head.value_dim);
  const auto take = [&](std::size_t columns)
                        HWY_ATTR { return std::exchange(end, end + head.keys * columns); };
  if (head.queries > kTile) {
    head.key = pack(head.key, head.keys, head.dim, take(head.dim));
    head.value = pack(head.value, head.keys, head.value_dim, take(head.value_dim));
  }
  head.skip_hidden = head.is_causal && head.keys > kStep &&
                     all_finite(head.key, 0, head.keys, head.dim) &&
                     all_finite(head.query, 0, head.queries, head.dim) &&
                     all_finite(head.grad, 0, head.queries, head.value_dim);
  const auto begin_sum = [&](HeadMatrix<T>& sum, std::size_t columns) HWY_ATTR {
    const HeadMatrix<T> place = sum;
    if (!place.data) return place;
    sum = {take(columns), columns, 1};
    std::fill_n(sum.data, head.keys * columns, T(0));
    return place;
  };
  const HeadMatrix<T> key_place = begin_sum(head.grad_key, head.dim);
  const HeadMatrix<T> value_place = begin_sum(head.grad_value, head.value_dim);
  for (std::size_t query = first * kTile; query < head.queries; query += step * kTile) {
    differentiate_block(head, query, std::min(kTile, head.queries - query), scratch);
  }
  const auto end_sum = [&](const HeadMatrix<T>& sum, std::size_t columns,
                           const HeadMatrix<T>& place) HWY_ATTR {
    if (!place.data) return;
    for (std::size_t j = 0; j < head.keys; ++j) copy_row(sum.at(j), columns, place.at(j));
  };
  end_sum(head.grad_key, head.dim, key_place);
  end_sum(head.grad_value, head.value_dim, value_place);
}

const ForTypes<HeadKernel>& find_differentiate_head() {
  static constexpr ForTypes<HeadKernel> kAll = {differentiate_head, differentiate_head};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_differentiate_head);

// Each block of queries adds to the gradients of all keys and values that it sees, so the blocks of
// a head run one after the other. Where there are too few heads for the cores, a head's blocks are
// divided among several parts, whose gradients are summed at the end.
class Parts {
 public:
  Parts(std::int64_t heads, std::int64_t blocks, const AttentionGradients& gradients) {
    constexpr std::int64_t kTasks = 4;
    const std::int64_t count = std::clamp<std::int64_t>(kTasks / std::max<std::int64_t>(1, heads),
                                                        1, std::max<std::int64_t>(1, blocks));
    const auto room = [](const Array& like) {
      return like.defined() ? Array::empty(like.shape(), like.dtype()) : Array();
    };
    parts_.push_back(gradients);
    while (std::ssize(parts_) < count) {
      parts_.push_back({gradients.query, room(gradients.key), room(gradients.value)});
    }
  }

  std::int64_t count() const { return std::ssize(parts_); }
  const AttentionGradients& operator[](std::int64_t i) const {
    return parts_[static_cast<std::size_t>(i)];
  }
  void sum() const {
    const Array &key = parts_[0].key, &value = parts_[0].value;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (key.defined()) add(key, key, parts_[i].key);
      if (value.defined()) add(value, value, parts_[i].value);
    }
  }

 private:
  std::vector<AttentionGradients> parts_;
};

}  // namespace

void attention_backward(const AttentionGradients& gradients, const Array& grad, const Array& out,
                        const Array& log_sums, const Array& query, const Array& key,
                        const Array& value, const AttentionRule& rule) {
  // The product of the sizes of empty arrays may overflow int64.
  if (query.numel() == 0 && key.numel() == 0 && value.numel() == 0) return;
  visit_floating("attention", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const HeadKernel<T> differentiate_head =
        HWY_DYNAMIC_DISPATCH(find_differentiate_head)().of<T>();
    const AttentionHeads<T> heads(query, key, value, rule);
    const Parts parts(heads.count(), heads.blocks(), gradients);
    const std::int64_t scratch_size = backward_scratch(query.size(-1), value.size(-1)) +
                                      2 * key.size(-2) * (query.size(-1) + value.size(-1));
    const std::int64_t grain = heads.grain(2 * query.size(-2) * key.size(-2));
    parallel_for(0, heads.count() * parts.count(), grain, [&](auto begin, auto end) {
      const Array scratch = Array::empty({scratch_size}, dtype_of<T>());
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t index = task / parts.count(), part = task % parts.count();
        AttentionHead<T> head = heads.at(index);
        head.out = head_of<T>(out, index);
        head.log_sums = log_sums.data<T>() + 2 * index * query.size(-2);
        head.grad = head_of<const T>(grad, index);
        head.grad_query = head_of<T>(gradients.query, index);
        head.grad_key = head_of<T>(parts[part].key, index);
        head.grad_value = head_of<T>(parts[part].value, index);
        differentiate_head(head, static_cast<std::size_t>(part),
                           static_cast<std::size_t>(parts.count()), scratch.data<T>());
      }
    });
    parts.sum();
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
