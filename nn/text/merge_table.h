// The merges of a byte-level BPE, applied to pieces of text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// Encodes single pieces. A table never changes after construction, so several threads may use it.
class MergeTable {
 public:
  /// The tokens must outlive the table.
  explicit MergeTable(const TokenizerParts& parts);

  /// Adds the ids of a piece to `ids`. It skips bytes that have no token.
  ///
  /// While neighbours can be merged, it merges the pair whose merge comes first in the list. If the
  /// pair occurs more than once, it merges the leftmost. A piece of n bytes takes O(n log n) time.
  void encode(std::string_view piece, std::vector<std::int64_t>& ids) const;

 private:
  // The merge of a pair of neighbours; `rank` is kNone for an empty slot.
  struct Entry {
    std::uint64_t pair = 0;
    std::uint32_t rank = 0;
    TokenId merged = 0;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void add(const Merge& merge, std::uint32_t rank);
  std::size_t slot_of(std::uint64_t pair) const noexcept;
  const Entry& find(TokenId left, TokenId right) const noexcept;
  TokenId token_of(char byte) const noexcept { return of_byte_[static_cast<unsigned char>(byte)]; }
  bool has_tokens(std::string_view piece) const noexcept;
  void merge_short(std::string_view piece, std::vector<std::int64_t>& ids) const;
  void merge_long(std::string_view piece, std::vector<std::int64_t>& ids) const;

  static constexpr TokenId kNoToken = 0xFFFFFFFF;

  std::array<TokenId, 256> of_byte_{};
  bool has_all_bytes_ = true;
  std::vector<Entry> entries_;  // a hash table with open addressing
  int shift_ = 0;
  // Pieces that are a single token after all merges. Most pieces of a text are here, so they need
  // no merging.
  std::unordered_map<std::string_view, TokenId> whole_;
};

}  // namespace tend::nn
