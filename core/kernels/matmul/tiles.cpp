#include <tend/core/kernels/simd/simd_targets.h>
// Before any header of Highway.
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

}  // namespace tend::kernels
#endif  // HWY_ONCE
