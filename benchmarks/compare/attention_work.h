// The rows about attention whose keys are partly hidden: their sizes, and who may see whom. The
// driver counts the visible pairs, libtorch's worker makes tensors of them; tend has masks that say
// the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "worker.h"

namespace compare {

/// One attention of heads: the operation of a Work, and its sizes in this order.
struct AttentionWork {
  std::string kind;  ///< attend_grouped, attend_window, ...: see visible_keys
  bool both = false;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  std::int64_t width = 1;
  std::int64_t parameter = 0;  ///< the window's size, the number of documents

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

/// Where the documents of a packed sequence begin, and where the last ends: each is longer than the
/// one before it.
inline std::vector<std::int64_t> document_bounds(const AttentionWork& w) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t i = 0; i <= w.parameter; ++i)
    bounds.push_back(w.keys * i * (i + 1) / (w.parameter * (w.parameter + 1)));
  return bounds;
}

/// How many tokens the sequences of a padded batch have: from all down to a quarter.
inline std::vector<std::int64_t> sequence_lengths(const AttentionWork& w) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < w.batch; ++i)
    lengths.push_back(w.keys - w.keys * 3 * i / (4 * std::max<std::int64_t>(w.batch - 1, 1)));
  return lengths;
}

/// Keys from `first` up to, not including, `end`.
struct KeyRange {
  std::int64_t first, end;
};

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

/// Pairs of a query and a key that it sees, in all heads.
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
