#include <tend/nn/text/byte_pair_training.h>

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include <tend/nn/text/byte_alphabet.h>

namespace tend::nn {
namespace {

using Place = std::uint32_t;
constexpr Place kNowhere = std::numeric_limits<Place>::max();
constexpr TokenId kGone = std::numeric_limits<TokenId>::max();

// A token of a piece, and its neighbours there.
struct TrainingSymbol {
  TokenId id = kGone;  // kGone after it was merged into the symbol before it
  Place previous = kNowhere, next = kNowhere;
  std::int64_t count = 0;  // how often its piece occurs
};

struct Pair {
  std::int64_t count = 0;
  std::vector<Place> places;  // where the pair begins, or began before merges
};

// Two neighbouring tokens as one number (see pair_key()).
using Key = std::uint64_t;

class Trainer {
 public:
  Trainer(TokenizerParts& parts, const std::vector<CountedPiece>& pieces) : parts_(parts) {
    for (std::size_t id = 0; id < parts.tokens.size(); ++id)
      ids_.emplace(parts.tokens[id], static_cast<TokenId>(id));
    add_symbols(pieces);
    for (Place at = 0; at < symbols_.size(); ++at) count_pair(at, 1);
  }

  void learn(std::int64_t most_tokens, std::int64_t min_frequency) {
    for (const auto& [key, pair] : pairs_) queue_.emplace(pair.count, key);
    while (std::ssize(parts_.tokens) < most_tokens && !queue_.empty()) {
      const auto [count, key] = queue_.top();
      queue_.pop();
      const std::int64_t now = pairs_.at(key).count;
      if (now != count) {  // the entry is outdated: queue the pair again with its new count
        if (now < count && now >= min_frequency) queue_.emplace(now, key);
        continue;
      }
      if (count < min_frequency) break;
      merge(key);
    }
  }

 private:
  // The most frequent pair is the largest; of equally frequent pairs, the one with smaller ids.
  struct Order {
    bool operator()(const std::pair<std::int64_t, Key>& a,
                    const std::pair<std::int64_t, Key>& b) const noexcept {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };

  void add_symbols(const std::vector<CountedPiece>& pieces) {
    std::size_t bytes = 0;
    for (const CountedPiece& each : pieces) bytes += each.piece.size();
    if (bytes >= kNowhere)
      fail("BytePairEncoding::train",
           "the different words together must have less than 2^32 - 1 bytes, but have ", bytes);
    std::array<TokenId, 256> id_of{};
    for (TokenId id = 0; id < 256; ++id) id_of[bytes_in_order()[id]] = id;
    symbols_.reserve(bytes);
    for (const CountedPiece& each : pieces) {
      const auto begin = static_cast<Place>(symbols_.size());
      const auto end = static_cast<Place>(begin + each.piece.size());
      for (Place at = begin; at < end; ++at) {
        const auto byte = static_cast<unsigned char>(each.piece[at - begin]);
        symbols_.push_back({id_of[byte], at == begin ? kNowhere : at - 1,
                            at + 1 == end ? kNowhere : at + 1, each.count});
      }
    }
  }

  // Adds the pair that begins at `at` to its count (`sign` is 1), or subtracts it (-1).
  void count_pair(Place at, int sign) {
    if (at == kNowhere || symbols_[at].next == kNowhere) return;
    const TrainingSymbol& symbol = symbols_[at];
    const Key key = pair_key(symbol.id, symbols_[symbol.next].id);
    Pair& pair = pairs_[key];
    pair.count += sign * symbol.count;
    if (sign < 0) return;
    pair.places.push_back(at);
    grown_.push_back(key);
  }

  // Returns the token with these bytes. Adds the token unless an earlier merge has made the same
  // bytes.
  TokenId token_of(const std::string& bytes) {
    const auto [place, is_new] = ids_.emplace(bytes, static_cast<TokenId>(parts_.tokens.size()));
    if (is_new) parts_.tokens.push_back(bytes);
    return place->second;
  }

  // Merges the pair wherever it occurs, from left to right, and updates the counts of pairs.
  void merge(Key key) {
    const auto left = static_cast<TokenId>(key >> 32), right = static_cast<TokenId>(key);
    const TokenId merged = token_of(parts_.tokens[left] + parts_.tokens[right]);
    parts_.merges.push_back({left, right, merged});
    const std::vector<Place> places = std::move(pairs_[key].places);
    grown_.clear();
    for (const Place at : places) {
      const TrainingSymbol& symbol = symbols_[at];
      const bool is_there =
          symbol.id == left && symbol.next != kNowhere && symbols_[symbol.next].id == right;
      if (is_there) merge_at(at, merged);
    }
    std::sort(grown_.begin(), grown_.end());
    grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
    for (const Key each : grown_) queue_.emplace(pairs_[each].count, each);
  }

  void merge_at(Place at, TokenId merged) {
    const Place right = symbols_[at].next, before = symbols_[at].previous;
    count_pair(before, -1);
    count_pair(at, -1);
    count_pair(right, -1);
    const Place after = symbols_[right].next;
    symbols_[right] = {};
    symbols_[at].id = merged;
    symbols_[at].next = after;
    if (after != kNowhere) symbols_[after].previous = at;
    count_pair(before, 1);
    count_pair(at, 1);
  }

  TokenizerParts& parts_;
  std::unordered_map<std::string, TokenId> ids_;  // by the bytes of the tokens
  std::vector<TrainingSymbol> symbols_;           // of all pieces, one after the other
  std::unordered_map<Key, Pair> pairs_;
  std::priority_queue<std::pair<std::int64_t, Key>, std::vector<std::pair<std::int64_t, Key>>,
                      Order>
      queue_;
  std::vector<Key> grown_;  // pairs that have become more frequent
};

}  // namespace

void learn_merges(TokenizerParts& parts, const std::vector<CountedPiece>& pieces,
                  std::int64_t most_tokens, std::int64_t min_frequency) {
  Trainer(parts, pieces).learn(most_tokens, min_frequency);
}

}  // namespace tend::nn
