// The rows about masked attention: their sizes, and which keys each query may attend to. The driver
// counts the visible pairs, and libtorch's worker makes mask tensors of them. tend's worker uses
// tend's masks with the same meaning.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "worker.h"

namespace compare {

/// An attention operation: the name and the sizes of a Work, in the order of its sizes.
struct AttentionWork {
  std::string kind;  ///< attend_grouped, attend_window, ... (see visible_keys)
  bool both = false;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t width = 1;
  std::int64_t parameter = 0;  ///< the window's size or the number of documents

  bool is_padded() const { return kind.starts_with("attend_padded"); }
};

inline AttentionWork attention_work(const Work& w) {
  return {w.operation, w[0] != 0, w[1], w[2], w[3], w[4], w[5], w[6], w[7]};
}

inline std::vector<std::int64_t> sizes_of(const AttentionWork& w) {
  return {static_cast<std::int64_t>(w.both),
          w.batch,
          w.heads,
          w.kv_heads,
          w.queries,
          w.keys,
          w.width,
          w.parameter};
}

/// The start of each document in a packed sequence, and the end of the last one. Each document is
/// longer than the previous one.
inline std::vector<std::int64_t> document_bounds(const AttentionWork& w) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t i = 0; i <= w.parameter; ++i)
    bounds.push_back(w.keys * i * (i + 1) / (w.parameter * (w.parameter + 1)));
  return bounds;
}

/// The number of tokens of each sequence in a padded batch, falling from w.keys to a quarter of it.
inline std::vector<std::int64_t> sequence_lengths(const AttentionWork& w) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < w.batch; ++i)
    lengths.push_back(w.keys - w.keys * 3 * i / (4 * std::max<std::int64_t>(w.batch - 1, 1)));
  return lengths;
}

/// The keys from `first` to `end`, excluding `end`.
struct KeyRange {
  std::int64_t first, end;
};

/// The keys that a query may attend to. `batch` is the index of its sequence in the batch.
inline KeyRange visible_keys(const AttentionWork& w, std::int64_t batch, std::int64_t query) {
  const KeyRange causal{0, query + 1};
  if (w.kind == "attend_query") return {0, w.keys};
  if (w.kind == "attend_window")
    return {std::max<std::int64_t>(0, query + 1 - w.parameter), query + 1};
  if (w.kind == "attend_documents") {
    const std::vector<std::int64_t> bounds = document_bounds(w);
    return {*(std::upper_bound(bounds.begin(), bounds.end(), query) - 1), query + 1};
  }
  if (w.is_padded()) {
    const std::int64_t length = sequence_lengths(w)[static_cast<std::size_t>(batch)];
    return {0, w.kind == "attend_padded" ? length : std::min(causal.end, length)};
  }
  return causal;
}

/// The number of pairs, in all heads, of a query and a key that the query may attend to.
inline double visible_pairs(const AttentionWork& w) {
  std::int64_t pairs = 0;
  for (std::int64_t batch = 0; batch < w.batch; ++batch) {
    for (std::int64_t query = 0; query < w.queries; ++query) {
      const KeyRange range = visible_keys(w, batch, query);
      pairs += range.end - range.first;
    }
  }
  return static_cast<double>(pairs * w.heads);
}

}  // namespace compare
