#include <tend/nn/text/merge_table.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <queue>

namespace tend::nn {
namespace {

// Up to this many bytes, a search of all neighbours for each merge is faster than a heap.
constexpr std::size_t kShort = 64;
constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();

// A token of a long piece, and its neighbours.
struct Symbol {
  TokenId id = 0;
  bool is_merged = false;  // merged into the symbol before it
  std::size_t previous = kEnd, next = kEnd;
};

std::vector<bool> ids_of_added(const TokenizerParts& parts) {
  std::vector<bool> is_added(parts.tokens.size());
  for (const AddedToken& token : parts.added) is_added[token.id] = true;
  return is_added;
}

}  // namespace

MergeTable::MergeTable(const TokenizerParts& parts) {
  of_byte_.fill(kNoToken);
  const std::vector<bool> is_added = ids_of_added(parts);
  // An added token of one byte encodes the byte only if no ordinary token does.
  for (const bool added : {true, false}) {
    for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
      const std::string& token = parts.tokens[id];
      if (is_added[id] == added && token.size() == 1)
        of_byte_[static_cast<unsigned char>(token[0])] = static_cast<TokenId>(id);
    }
  }
  has_all_bytes_ = std::find(of_byte_.begin(), of_byte_.end(), kNoToken) == of_byte_.end();
  const std::size_t slots = std::bit_ceil(2 * parts.merges.size() + 2);
  entries_.resize(slots, {~std::uint64_t{0}, kNone, 0});
  shift_ = 64 - std::countr_zero(slots);
  for (std::size_t rank = 0; rank < parts.merges.size(); ++rank)
    add(parts.merges[rank], static_cast<std::uint32_t>(rank));

  // Encodes the bytes of each token, and adds the bytes to `whole` if the result is a single token.
  // The member whole_ stays empty until the end, so that encode() really merges each token's bytes.
  std::unordered_map<std::string_view, TokenId> whole;
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    const std::string& token = parts.tokens[id];
    if (is_added[id]) continue;
    ids = {static_cast<std::int64_t>(id)};
    if (!parts.ignore_merges) {
      ids.clear();
      encode(token, ids);
      if (ids.size() != 1) continue;
    }
    whole.emplace(token, static_cast<TokenId>(ids[0]));
  }
  whole_ = std::move(whole);
}

std::size_t MergeTable::slot_of(std::uint64_t pair) const noexcept {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
  std::size_t slot = (pair * kGolden) >> shift_;
  while (entries_[slot].rank != kNone && entries_[slot].pair != pair)
    slot = (slot + 1) & (entries_.size() - 1);
  return slot;
}

void MergeTable::add(const Merge& merge, std::uint32_t rank) {
  const std::uint64_t pair = pair_key(merge.left, merge.right);
  entries_[slot_of(pair)] = {pair, rank, merge.merged};
}

const MergeTable::Entry& MergeTable::find(TokenId left, TokenId right) const noexcept {
  return entries_[slot_of(pair_key(left, right))];
}

bool MergeTable::has_tokens(std::string_view piece) const noexcept {
  return std::all_of(piece.begin(), piece.end(),
                     [this](char byte) { return token_of(byte) != kNoToken; });
}

void MergeTable::encode(std::string_view piece, std::vector<std::int64_t>& ids) const {
  if (const auto found = whole_.find(piece); found != whole_.end()) {
    ids.push_back(found->second);
  } else if (!has_all_bytes_ && !has_tokens(piece)) {
    std::string known;
    for (const char byte : piece)
      if (token_of(byte) != kNoToken) known += byte;
    encode(known, ids);
  } else if (piece.size() <= kShort) {
    merge_short(piece, ids);
  } else {
    merge_long(piece, ids);
  }
}

void MergeTable::merge_short(std::string_view piece, std::vector<std::int64_t>& ids) const {
  std::array<TokenId, kShort> tokens;
  std::array<std::uint32_t, kShort> ranks;  // the rank of each token's merge with the next one
  std::size_t count = piece.size();
  const auto rank_at = [&](std::size_t i) {
    return i + 1 < count ? find(tokens[i], tokens[i + 1]).rank : kNone;
  };
  for (std::size_t i = 0; i < count; ++i) tokens[i] = token_of(piece[i]);
  for (std::size_t i = 0; i < count; ++i) ranks[i] = rank_at(i);
  while (count > 1) {
    const auto at = static_cast<std::size_t>(
        std::min_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count)) -
        ranks.begin());
    if (ranks[at] == kNone) break;
    tokens[at] = find(tokens[at], tokens[at + 1]).merged;
    --count;
    std::copy(tokens.begin() + at + 2, tokens.begin() + count + 1, tokens.begin() + at + 1);
    std::copy(ranks.begin() + at + 2, ranks.begin() + count + 1, ranks.begin() + at + 1);
    ranks[at] = rank_at(at);
    if (at > 0) ranks[at - 1] = rank_at(at - 1);
  }
  ids.insert(ids.end(), tokens.begin(), tokens.begin() + count);
}

void MergeTable::merge_long(std::string_view piece, std::vector<std::int64_t>& ids) const {
  std::vector<Symbol> symbols(piece.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].id = token_of(piece[i]);
    symbols[i].previous = i == 0 ? kEnd : i - 1;
    symbols[i].next = i + 1 == symbols.size() ? kEnd : i + 1;
  }
  // Possible merges, by rank and position. Some are outdated when they are popped.
  using Candidate = std::pair<std::uint32_t, std::size_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto merge_at = [&](std::size_t at) -> const Entry& {
    return find(symbols[at].id, symbols[symbols[at].next].id);
  };
  const auto add_candidate = [&](std::size_t at) {
    if (at == kEnd || symbols[at].next == kEnd) return;
    if (const Entry& entry = merge_at(at); entry.rank != kNone) candidates.emplace(entry.rank, at);
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) add_candidate(i);
  while (!candidates.empty()) {
    const auto [rank, at] = candidates.top();
    candidates.pop();
    Symbol& left = symbols[at];
    if (left.is_merged || left.next == kEnd) continue;
    const Entry& entry = merge_at(at);
    if (entry.rank != rank) continue;
    Symbol& right = symbols[left.next];
    left.id = entry.merged;
    right.is_merged = true;
    left.next = right.next;
    if (left.next != kEnd) symbols[left.next].previous = at;
    add_candidate(left.previous);
    add_candidate(at);
  }
  for (const Symbol& symbol : symbols) {
    if (!symbol.is_merged) ids.push_back(symbol.id);
  }
}

}  // namespace tend::nn
