#include <tend/core/kernels/attention/head_functions.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <tend/core/kernels/attention/tile_evaluation.h>

namespace tend::kernels {
namespace {

IndexRange range_of(std::size_t first, std::size_t count) {
  const auto low = static_cast<std::int64_t>(first);
  return {low, low + static_cast<std::int64_t>(count) - 1};
}

/// Copies rows of lanes. Lanes that are hidden, or have no query, become 0.
template <class T>
void copy_visible(const std::byte* from, const TileRange& tile, const TileBits& visible,
                  std::size_t key, std::size_t rows, T* to) {
  // A function may return its input. Then source and target are the same.
  std::memmove(to, from, rows * kAttentionTile * sizeof(T));
  const std::uint64_t queries = first_bits(tile.queries);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t word = visible.all ? queries : queries & visible.words[key + row];
    if (word == ~std::uint64_t{0}) continue;
    for (std::size_t i = 0; i < kAttentionTile; ++i) {
      if ((word >> i & 1) == 0) to[row * kAttentionTile + i] = T(0);
    }
  }
}

/// The sum of the lanes, in an order that compilers can vectorise.
template <class T>
double sum_of(const T* lanes, std::size_t count) {
  constexpr std::size_t kParts = 8;
  double sums[kParts] = {};
  for (std::size_t i = 0; i < count; i += kParts) {
    for (std::size_t k = 0; k < kParts; ++k) sums[k] += static_cast<double>(lanes[i + k]);
  }
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

/// Adds a strip of gradients to the elements of a table that the look-up `site` read. Gradients
/// that are known to belong to one element are summed first.
template <class T>
void add_to_table(const TileState<T>& state, int site, const T* lanes, std::size_t rows,
                  double* table) {
  const TileNode& node = state.node(site);
  const TileTable& read = state.plan().table(node.table);
  TileLevel level = TileLevel::head;
  for (const int input : node.inputs) level = joined(level, state.plan().level(input));
  const auto add = [&](std::size_t lane, double value) {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const std::int32_t at =
          reinterpret_cast<const std::int32_t*>(state.strip(node.inputs[k]))[lane];
      if (at < 0 || at >= read.sizes[k]) return;  // this occurs only at hidden positions
      offset += std::int64_t{at} * read.steps[k];
    }
    table[offset] += value;
  };
  switch (level) {
    case TileLevel::head: return add(0, sum_of(lanes, rows * kAttentionTile));
    case TileLevel::key:
      for (std::size_t row = 0; row < rows; ++row) {
        add(row * kAttentionTile, sum_of(lanes + row * kAttentionTile, kAttentionTile));
      }
      return;
    case TileLevel::query:
      for (std::size_t i = 0; i < kAttentionTile; ++i) {
        double sum = 0;
        for (std::size_t row = 0; row < rows; ++row) {
          sum += static_cast<double>(lanes[row * kAttentionTile + i]);
        }
        add(i, sum);
      }
      return;
    case TileLevel::pair:
      for (std::size_t i = 0; i < rows * kAttentionTile; ++i) add(i, static_cast<double>(lanes[i]));
  }
}

}  // namespace

template <class T>
FunctionPlans<T>::FunctionPlans(const AttentionFunctions& functions,
                                const ScoreDerivative* derivative,
                                const std::vector<Array>& tables) {
  if (functions.score) score.emplace(*functions.score, functions.score->results);
  if (functions.mask) {
    mask.emplace(*functions.mask, functions.mask->results);
    bounds.emplace(*functions.mask);
  }
  if (!functions.score || !derivative) return;
  const TileProgram& program = derivative->program;
  std::vector<int> roots{program.results[0]};
  lookups = &derivative->lookups;
  for (std::size_t i = 0; i < lookups->size(); ++i) {
    const TileNode& node = program.nodes[static_cast<std::size_t>((*lookups)[i])];
    if (!tables[static_cast<std::size_t>(node.table)].defined()) continue;
    roots.push_back(program.results[i + 1]);
    roots.insert(roots.end(), node.inputs.begin(), node.inputs.end());
  }
  gradient.emplace(program, roots);
}

template <class T>
HeadFunctions<T>::HeadFunctions(const FunctionPlans<T>& plans) : plans_(&plans) {
  const std::optional<TilePlan<T>>* const all[] = {&plans.score, &plans.mask, &plans.gradient};
  std::optional<TileState<T>>* const states[] = {&score_, &mask_, &gradient_};
  std::size_t bytes = 0;
  for (const auto* plan : all) bytes += *plan ? (*plan)->scratch_bytes() : 0;
  scratch_ = Array::empty({static_cast<std::int64_t>(bytes)}, boolean);
  auto* memory = static_cast<std::byte*>(scratch_.raw());
  for (std::size_t i = 0; i < std::size(all); ++i) {
    if (!*all[i]) continue;
    states[i]->emplace(**all[i], memory);
    memory += (*all[i])->scratch_bytes();
  }
}

template <class T>
void HeadFunctions<T>::begin_head(std::int64_t index, std::int64_t heads) {
  const std::int64_t batch = index / heads, head = index % heads;
  positions_.batch = {batch, batch};
  positions_.head = {head, head};
  for (std::optional<TileState<T>>* state : {&score_, &mask_, &gradient_}) {
    if (!*state) continue;
    (*state)->batch = static_cast<std::int32_t>(batch);
    (*state)->head = static_cast<std::int32_t>(head);
    tile_evaluation().of<T>().begin_head(**state);
  }
}

template <class T>
void HeadFunctions<T>::begin_block(std::size_t first, std::size_t count) {
  for (std::optional<TileState<T>>* state : {&score_, &mask_, &gradient_}) {
    if (*state) tile_evaluation().of<T>().begin_block(**state, first, count);
  }
}

template <class T>
bool HeadFunctions<T>::skips(const TileRange& tile) {
  coverage_ = TileCoverage::full;
  if (!mask_) return false;
  positions_.query = range_of(tile.query, tile.queries);
  positions_.key = range_of(tile.key, tile.keys);
  coverage_ = plans_->bounds->coverage(positions_, bounds_);
  return coverage_ == TileCoverage::empty && may_skip_;
}

template <class T>
void HeadFunctions<T>::apply(const TileRange& tile, T* scores, TileBits& visible) {
  const TileEvaluation<T>& evaluation = tile_evaluation().of<T>();
  visible.all = coverage_ == TileCoverage::full;
  if (!visible.all) {
    std::fill_n(visible.words, kAttentionTile, 0);
    const int result = mask_->plan().program().results[0];
    evaluation.evaluate(*mask_, tile, nullptr, nullptr, [&](std::size_t key, std::size_t rows) {
      std::memcpy(visible.words + key, mask_->strip(result), rows * sizeof *visible.words);
    });
  }
  if (score_) {
    const int result = score_->plan().program().results[0];
    evaluation.evaluate(*score_, tile, scores, nullptr, [&](std::size_t key, std::size_t rows) {
      std::memmove(scores + key * kAttentionTile, score_->strip(result),
                   rows * kAttentionTile * sizeof(T));
    });
    if (score_->faults.any) find_faults(tile, visible, *score_);
  }
  if (!visible.all && mask_->faults.any) find_faults(tile, visible, *mask_);
}

template <class T>
void HeadFunctions<T>::find_faults(const TileRange& tile, const TileBits& visible,
                                   const TileState<T>& state) {
  for (std::size_t j = 0; j < tile.keys; ++j) {
    std::uint64_t lanes = state.faults.at(j) & first_bits(tile.queries);
    if (!visible.all) lanes &= visible.words[j];
    if (lanes == 0) continue;
    const std::size_t query = tile.query + static_cast<std::size_t>(std::countr_zero(lanes));
    const std::size_t key = tile.key + j;
    const bool is_first =
        !has_fault_ || query < fault_query_ || (query == fault_query_ && key < fault_key_);
    if (!is_first) continue;
    has_fault_ = true;
    fault_query_ = query;
    fault_key_ = key;
  }
}

template <class T>
std::int64_t HeadFunctions<T>::fault(std::size_t keys) const {
  return has_fault_ ? static_cast<std::int64_t>(fault_query_ * keys + fault_key_) : -1;
}

template <class T>
void HeadFunctions<T>::apply_gradient(const TileRange& tile, const T* scores,
                                      const TileBits& visible, T* grads,
                                      const std::vector<double*>& tables) {
  const std::vector<int>& results = gradient_->plan().program().results;
  const std::vector<int>& lookups = *plans_->lookups;
  const auto sink = [&](std::size_t key, std::size_t rows) {
    T lanes[kStripLanes];
    for (std::size_t i = 0; i < lookups.size(); ++i) {
      double* const table = tables[static_cast<std::size_t>(gradient_->node(lookups[i]).table)];
      if (!table) continue;
      copy_visible(gradient_->strip(results[i + 1]), tile, visible, key, rows, lanes);
      add_to_table(*gradient_, lookups[i], lanes, rows, table);
    }
    copy_visible(gradient_->strip(results[0]), tile, visible, key, rows,
                 grads + key * kAttentionTile);
  };
  tile_evaluation().of<T>().evaluate(*gradient_, tile, scores, grads, sink);
}

template struct FunctionPlans<float>;
template struct FunctionPlans<double>;
template class HeadFunctions<float>;
template class HeadFunctions<double>;

}  // namespace tend::kernels
