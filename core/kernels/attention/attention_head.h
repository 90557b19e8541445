// One head of one batch, as the attention kernels use it: pointers and strides, and which keys each
// query may see.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <tend/core/kernels/attention/attention.h>

namespace tend::kernels {

/// The number of queries, and of keys, in a tile: one for each bit of a 64-bit word.
inline constexpr std::size_t kAttentionTile = 64;

/// Weights that causality hides are skipped in steps of this many queries and keys.
inline constexpr std::size_t kAttentionStep = 16;

/// A matrix of a head. Element (i, j) is data[i * row + j * step].
template <class T>
struct HeadMatrix {
  T* data = nullptr;
  std::size_t row = 0, step = 0;

  T* at(std::size_t i, std::size_t j = 0) const { return data + i * row + j * step; }
};

template <class T>
class HeadFunctions;

template <class T>
struct AttentionHead {
  std::size_t queries, keys, dim, value_dim;
  HeadMatrix<const T> query, key, value;
  T scale;
  bool is_causal;
  std::size_t position;            // the position of query 0 among the keys, for causality
  bool skip_hidden;                // weights that causality hides may be skipped
  HeadMatrix<const bool> allowed;  // without data, everything is allowed
  HeadMatrix<const T> added;       // without data, nothing is added
  const std::uint64_t* kept;       // bits of the kept weights; nullptr keeps all
  std::uint64_t first_bit;         // the first bit of this head's weights in `kept`
  T keep_factor;
  HeadFunctions<T>* functions;  // or nullptr; used instead of is_causal, allowed and added

  HeadMatrix<T> out;
  T* log_sums;  // the largest scores of all queries, then the logarithms of the sums

  // Backward only; gradients that are not needed have no data.
  HeadMatrix<const T> grad;
  HeadMatrix<T> grad_query, grad_key, grad_value;
  const std::vector<double*>* grad_tables;  // for each table of the score function, or nullptr
};

/// The matrix in the last two dimensions of `a`. `index` is its row-major position in the other
/// dimensions.
template <class T>
HeadMatrix<T> head_of(const Array& a, std::int64_t index) {
  if (!a.defined()) return {};
  T* data = a.data<std::remove_const_t<T>>();
  for (std::int64_t d = a.rank() - 3; d >= 0; --d) {
    data += index % a.shape()[d] * a.strides()[d];
    index /= a.shape()[d];
  }
  return {data, static_cast<std::size_t>(a.strides()[a.rank() - 2]),
          static_cast<std::size_t>(a.strides()[a.rank() - 1])};
}

/// The largest number of queries, and of keys, in a head that counts as short. The limit is smaller
/// in the backward: there, heads of 16 or more take 0.9 of the time if each is computed separately.
inline constexpr std::size_t kMostShort = 16, kMostShortBackward = 8;

/// Short heads, one for each lane of a vector. Their matrices differ only in their addresses. Lanes
/// after the first `count` repeat the first head, and nothing is written for them.
template <class T>
struct ShortHeads {
  static constexpr std::size_t kMost = 16;  // the number of floats in the widest vectors
  template <class U>
  using Addresses = std::array<U*, kMost>;

  AttentionHead<T> any;
  std::size_t count;
  Addresses<const T> query, key, value;
  Addresses<T> out, log_sums;
  // Backward only.
  Addresses<const T> grad;
  Addresses<T> grad_query, grad_key, grad_value;
};

/// Writes the addresses of `count` heads of `a`, beginning with head `first`, to `addresses`. Fills
/// the rest of `addresses` with the first address.
template <class T>
void find_heads(const Array& a, std::int64_t first, std::size_t count,
                std::array<T*, ShortHeads<float>::kMost>& addresses) {
  if (!a.defined()) return;
  const std::int64_t d = a.rank() - 3;
  T* at = nullptr;
  for (std::size_t i = 0; i < count; ++i, ++first) {
    const bool follows = i > 0 && d >= 0 && first % a.shape()[d] != 0;
    at = follows ? at + a.strides()[d] : head_of<T>(a, first).data;
    addresses[i] = at;
  }
  std::fill(addresses.begin() + static_cast<std::ptrdiff_t>(count), addresses.end(), addresses[0]);
}

/// The number of elements of scratch memory for short heads, in the forward and the backward.
template <class Size>
constexpr Size short_scratch(Size dim, Size value_dim) {
  constexpr Size kMost = kMostShort, kHeads = ShortHeads<float>::kMost;
  return kHeads * kMost * (2 * (dim + value_dim) + 2 * kMost + 2);
}

/// The number of elements of scratch memory that a kernel needs for a block of queries. The vectors
/// in this memory are aligned. The memory for keys and values comes after this memory.
template <class Size>
constexpr Size forward_scratch(Size dim, Size value_dim) {
  constexpr Size kTile = kAttentionTile;
  return kTile * (dim + value_dim + kTile);
}
template <class Size>
constexpr Size backward_scratch(Size dim, Size value_dim, bool has_functions) {
  constexpr Size kTile = kAttentionTile;
  return kTile * (3 * dim + 2 * value_dim + (has_functions ? 3 : 2) * kTile);
}

/// Transposes 64 x 64 bits: swaps bit j of word i and bit i of word j. First two quarters of the
/// matrix are swapped, then two quarters of each quarter, down to single bits.
inline void transpose_bits(std::uint64_t* words) {
  std::uint64_t low = 0xffffffff;
  for (std::size_t half = 32; half != 0; half /= 2, low ^= low << half) {
    for (std::size_t i = 0; i < 64; i = (i + half + 1) & ~half) {
      const std::uint64_t change = (words[i] >> half ^ words[i + half]) & low;
      words[i] ^= change << half;
      words[i + half] ^= change;
    }
  }
}

/// The bits of `count` bools, at most 64.
inline std::uint64_t bits_of(const bool* bools, std::size_t step, std::size_t count) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  if (step == 1) {
    for (; i + 8 <= count; i += 8) {
      std::uint64_t eight;  // byte k, 0 or 1, is shifted to bit 56 + k
      std::memcpy(&eight, bools + i, 8);
      bits |= eight * 0x0102040810204080 >> 56 << i;
    }
  }
  for (; i < count; ++i) bits |= std::uint64_t{bools[i * step]} << i;
  return bits;
}

/// A word whose first `count` bits are set.
inline std::uint64_t first_bits(std::size_t count) {
  return count < 64 ? ~(~std::uint64_t{0} << count) : ~std::uint64_t{0};
}

/// The queries and keys of a tile.
struct TileRange {
  std::size_t query, queries, key, keys;  // first and count
};

/// Marks the weights of a tile that are visible, or that dropout keeps. There is a word for each
/// key, with a bit for each query.
struct TileBits {
  bool all = true;  // if true, all weights are marked, and `words` is uninitialised
  std::uint64_t words[kAttentionTile];
};

template <class T>
void find_visible(const AttentionHead<T>& head, const TileRange& tile, TileBits& bits) {
  const std::size_t position = head.position + tile.query;
  const bool cut = head.is_causal && tile.key + tile.keys > position + 1;
  bits.all = !cut && !head.allowed.data;
  if (bits.all) return;
  std::fill_n(bits.words, kAttentionTile, head.allowed.data ? 0 : ~std::uint64_t{0});
  if (head.allowed.data) {
    for (std::size_t i = 0; i < tile.queries; ++i) {
      bits.words[i] =
          bits_of(head.allowed.at(tile.query + i, tile.key), head.allowed.step, tile.keys);
    }
    transpose_bits(bits.words);
  }
  if (!cut) return;
  for (std::size_t j = 0; j < tile.keys; ++j) {
    const std::size_t key = tile.key + j;  // the first query that sees it has the same position
    if (key <= position) continue;
    const std::size_t hidden = key - position;
    bits.words[j] = hidden >= 64 ? 0 : bits.words[j] >> hidden << hidden;
  }
}

/// The keys of a tile that dropout keeps for the query: a bit for each key.
template <class T>
std::uint64_t kept_keys(const AttentionHead<T>& head, std::size_t query, const TileRange& tile) {
  const std::uint64_t first = head.first_bit + query * head.keys + tile.key;
  const std::uint64_t shift = first % 64;
  const std::uint64_t* word = head.kept + first / 64;
  std::uint64_t bits = word[0] >> shift;
  if (shift != 0 && shift + tile.keys > 64) bits |= word[1] << (64 - shift);
  return bits;
}

template <class T>
void find_kept(const AttentionHead<T>& head, const TileRange& tile, TileBits& bits) {
  bits.all = !head.kept;
  if (bits.all) return;
  std::fill_n(bits.words, kAttentionTile, 0);
  for (std::size_t i = 0; i < tile.queries; ++i) {
    bits.words[i] = kept_keys(head, tile.query + i, tile);
  }
  transpose_bits(bits.words);
}

}  // namespace tend::kernels
