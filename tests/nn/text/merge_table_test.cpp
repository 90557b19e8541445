#include <tend/nn/text/merge_table.h>

#include <algorithm>
#include <random>

#include <tend/nn/text/byte_alphabet.h>

#include "tests/catch.h"

using tend::nn::bytes_in_order;
using tend::nn::Merge;
using tend::nn::MergeTable;
using tend::nn::TokenId;
using tend::nn::TokenizerParts;

namespace {

// Random merges of random tokens, in a random order that training would not find.
TokenizerParts random_parts(unsigned seed, std::size_t merges) {
  std::mt19937 random(seed);
  TokenizerParts parts;
  for (const unsigned char byte : bytes_in_order()) parts.tokens.emplace_back(1, char(byte));
  const auto letter = [&](char c) {
    return static_cast<TokenId>(
        std::find(parts.tokens.begin(), parts.tokens.end(), std::string(1, c)) -
        parts.tokens.begin());
  };
  std::vector<TokenId> used{letter('a'), letter('b'), letter('c')};
  while (parts.merges.size() < merges) {
    const TokenId left = used[random() % used.size()], right = used[random() % used.size()];
    const std::string both = parts.tokens[left] + parts.tokens[right];
    const auto is_same = [&](const Merge& m) { return m.left == left && m.right == right; };
    if (both.size() > 8 || std::any_of(parts.merges.begin(), parts.merges.end(), is_same)) continue;
    const auto found = std::find(parts.tokens.begin(), parts.tokens.end(), both);
    const auto merged = static_cast<TokenId>(found - parts.tokens.begin());
    if (found == parts.tokens.end()) {
      parts.tokens.push_back(both);
      used.push_back(merged);
    }
    parts.merges.push_back({left, right, merged});
  }
  std::shuffle(parts.merges.begin(), parts.merges.end(), random);
  return parts;
}

// The definition: repeatedly apply the first merge in the list that any two neighbours have, at its
// leftmost position.
std::vector<std::int64_t> merge_by_definition(const TokenizerParts& parts,
                                              const std::string& piece) {
  std::vector<std::int64_t> ids;
  for (const char c : piece) {
    ids.push_back(std::find(parts.tokens.begin(), parts.tokens.end(), std::string(1, c)) -
                  parts.tokens.begin());
  }
  for (auto merge = parts.merges.begin(); merge != parts.merges.end();) {
    const std::vector<std::int64_t> pair{merge->left, merge->right};
    const auto place = std::search(ids.begin(), ids.end(), pair.begin(), pair.end());
    if (place == ids.end()) {
      ++merge;
      continue;
    }
    *place = merge->merged;
    ids.erase(place + 1);
    merge = parts.merges.begin();
  }
  return ids;
}

}  // namespace

TEST_CASE("pieces of every length are merged as in the definition") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const TokenizerParts parts = random_parts(seed, 40);
    const MergeTable table(parts);
    std::mt19937 random(seed);
    for (const unsigned length : {1U, 2U, 3U, 5U, 8U, 20U, 63U, 64U, 65U, 66U, 100U, 300U}) {
      std::string piece(length, 'a');
      for (char& c : piece) c = "abcx"[random() % (seed % 2 == 0 ? 3 : 4)];
      std::vector<std::int64_t> ids;
      table.encode(piece, ids);
      INFO(piece);
      CHECK(ids == merge_by_definition(parts, piece));
    }
  }
}

TEST_CASE("a token without merges is found only if merges are ignored") {
  TokenizerParts parts = random_parts(1, 5);
  parts.tokens.emplace_back("xyz");
  std::vector<std::int64_t> ids;
  MergeTable(parts).encode("xyz", ids);
  CHECK(ids.size() == 3);
  parts.ignore_merges = true;
  ids.clear();
  MergeTable(parts).encode("xyz", ids);
  CHECK(ids == std::vector<std::int64_t>{static_cast<std::int64_t>(parts.tokens.size()) - 1});
}

TEST_CASE("an added token is not found within a piece") {
  TokenizerParts parts = random_parts(1, 5);
  parts.ignore_merges = true;
  parts.added.push_back({"xyz", static_cast<TokenId>(parts.tokens.size()), true});
  parts.tokens.emplace_back("xyz");
  std::vector<std::int64_t> ids;
  MergeTable(parts).encode("xyz", ids);
  CHECK(ids.size() == 3);
}
