#include <tend/core/kernels/transpose.h>

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/transpose.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Tile {
  std::byte* to;
  std::int64_t to_step;
  const std::byte* from;
  std::int64_t from_step;

  T* out(std::int64_t r, std::int64_t c) const {
    return reinterpret_cast<T*>(to + r * to_step) + c;
  }
  const T* in(std::int64_t r, std::int64_t c) const {
    return reinterpret_cast<const T*>(from + c * from_step) + r;
  }
};

template <class T>
void transpose_elements(const Tile<T>& tile, std::int64_t top, std::int64_t left, std::int64_t rows,
                        std::int64_t columns) {
  for (std::int64_t r = top; r < rows; ++r) {
    for (std::int64_t c = left; c < columns; ++c)
      std::memcpy(tile.out(r, c), tile.in(r, c), sizeof(T));
  }
}

void transpose_1(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t rows, std::int64_t columns) {
  transpose_elements(Tile<std::uint8_t>{to, to_step, from, from_step}, 0, 0, rows, columns);
}

#if HWY_TARGET == HWY_SCALAR
inline constexpr std::int64_t kBlock = 1;

template <class T>
HWY_INLINE void transpose_block(const Tile<T>& tile, std::int64_t r, std::int64_t c) {
  std::memcpy(tile.out(r, c), tile.in(r, c), sizeof(T));
}
#else
inline constexpr std::int64_t kBlock = 4;

// Vectors of 16 bytes are enough: the memory is slower.
HWY_INLINE void transpose_block(const Tile<std::uint32_t>& tile, std::int64_t r, std::int64_t c) {
  const hn::Full128<std::uint32_t> d;
  const hn::Full128<std::uint64_t> pairs;
  const auto v0 = hn::LoadU(d, tile.in(r, c)), v1 = hn::LoadU(d, tile.in(r, c + 1));
  const auto v2 = hn::LoadU(d, tile.in(r, c + 2)), v3 = hn::LoadU(d, tile.in(r, c + 3));
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, tile.out(r, c));
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, tile.out(r + 1, c));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, tile.out(r + 2, c));
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, tile.out(r + 3, c));
}

HWY_INLINE void transpose_block(const Tile<std::uint64_t>& tile, std::int64_t top,
                                std::int64_t left) {
  const hn::Full128<std::uint64_t> d;
  for (const std::int64_t c : {left, left + 2}) {
    for (const std::int64_t r : {top, top + 2}) {
      const auto v0 = hn::LoadU(d, tile.in(r, c)), v1 = hn::LoadU(d, tile.in(r, c + 1));
      hn::StoreU(hn::InterleaveLower(d, v0, v1), d, tile.out(r, c));
      hn::StoreU(hn::InterleaveUpper(d, v0, v1), d, tile.out(r + 1, c));
    }
  }
}
#endif

// The inner loop goes along the rows of the input, whose cache lines so are read once even where
// many of them share a place in the cache.
template <class T>
HWY_INLINE void transpose_blocks(const Tile<T>& tile, std::int64_t rows, std::int64_t columns) {
  const std::int64_t full_rows = rows / kBlock * kBlock, full_columns = columns / kBlock * kBlock;
  for (std::int64_t c = 0; c < full_columns; c += kBlock) {
    for (std::int64_t r = 0; r < full_rows; r += kBlock) transpose_block(tile, r, c);
  }
  transpose_elements(tile, full_rows, 0, rows, full_columns);
  transpose_elements(tile, 0, full_columns, rows, columns);
}

void transpose_4(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t rows, std::int64_t columns) {
  transpose_blocks(Tile<std::uint32_t>{to, to_step, from, from_step}, rows, columns);
}

void transpose_8(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t rows, std::int64_t columns) {
  transpose_blocks(Tile<std::uint64_t>{to, to_step, from, from_step}, rows, columns);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(transpose_1);
HWY_EXPORT(transpose_4);
HWY_EXPORT(transpose_8);

void transpose_tile(std::byte* to, std::int64_t to_step, const std::byte* from,
                    std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                    std::int64_t item) {
  const auto transpose = item == 4   ? HWY_DYNAMIC_DISPATCH(transpose_4)
                         : item == 8 ? HWY_DYNAMIC_DISPATCH(transpose_8)
                                     : HWY_DYNAMIC_DISPATCH(transpose_1);
  transpose(to, to_step, from, from_step, rows, columns);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
