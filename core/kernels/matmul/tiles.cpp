#include <tend/core/kernels/simd/simd_targets.h>
// This must come before any header of Highway.
#include <tend/core/kernels/matmul/tiles.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/matmul/tiles.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <tend/core/kernels/matmul/tile_product.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

template <class T>
void multiply_either(const Tile<T>& tile, Rounding rounding) {
  if (rounding == Rounding::fused) return multiply<Rounding::fused>(tile);
  multiply<Rounding::separate>(tile);
}

template <class T>
void pack(std::size_t k, std::size_t n, const T* from, std::size_t row, std::size_t column, T* to) {
  if (column == 1) return pack_rows(k, n, from, row, to);
  pack_columns(k, n, from, column, to);
}

template <class T>
constexpr TileKernels<T> kernels_of() {
  return {panel_width<T>(), hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T), multiply_either, pack,
          transpose};
}

const ForTypes<TileKernels>& find_tile_kernels() {
  static constexpr ForTypes<TileKernels> kAll = {kernels_of<float>(), kernels_of<double>()};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_tile_kernels);

const ForTypes<TileKernels>& tile_kernels() {
  return HWY_DYNAMIC_DISPATCH(find_tile_kernels)();
}

namespace {

// Moves the elements as T, whatever their type is.
template <class T>
void transpose_as(std::byte* to, std::int64_t to_step, const std::byte* from,
                  std::int64_t from_step, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kItem = sizeof(T);
  tile_kernels().of<T>().transpose(
      static_cast<std::size_t>(columns), static_cast<std::size_t>(rows),
      reinterpret_cast<const T*>(from), static_cast<std::size_t>(from_step / kItem),
      reinterpret_cast<T*>(to), static_cast<std::size_t>(to_step / kItem));
}

}  // namespace

void transpose_bytes(std::byte* to, std::int64_t to_step, const std::byte* from,
                     std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                     std::int64_t item) {
  if (item == 4) {
    transpose_as<float>(to, to_step, from, from_step, rows, columns);
  } else if (item == 8) {
    transpose_as<double>(to, to_step, from, from_step, rows, columns);
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) to[r * to_step + c] = from[c * from_step + r];
    }
  }
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
