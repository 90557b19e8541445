#include <tend/core/kernels/fixed_targets.h>
// Before anything of Highway.
#include <tend/core/kernels/tiles.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/tiles.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <tend/core/kernels/tile_product.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

template <class T>
HWY_INLINE void multiply_either(const Tile<T>& tile, Rounding rounding) {
  if (rounding == Rounding::fused) return multiply<Rounding::fused>(tile);
  multiply<Rounding::separate>(tile);
}

template <class T>
HWY_INLINE void pack(std::size_t k, std::size_t n, const T* from, std::size_t row,
                     std::size_t column, T* to) {
  if (column == 1) return pack_rows(k, n, from, row, to);
  pack_columns(k, n, from, column, to);
}

// One name for each element type, as HWY_EXPORT wants.

void multiply_float(const Tile<float>& tile, Rounding rounding) {
  multiply_either(tile, rounding);
}
void multiply_double(const Tile<double>& tile, Rounding rounding) {
  multiply_either(tile, rounding);
}
std::size_t width_float() {
  return panel_width<float>();
}
std::size_t width_double() {
  return panel_width<double>();
}
void pack_float(std::size_t k, std::size_t n, const float* from, std::size_t row,
                std::size_t column, float* to) {
  pack(k, n, from, row, column, to);
}
void pack_double(std::size_t k, std::size_t n, const double* from, std::size_t row,
                 std::size_t column, double* to) {
  pack(k, n, from, row, column, to);
}
void transpose_float(std::size_t rows, std::size_t cols, const float* from, std::size_t from_row,
                     float* to, std::size_t to_row) {
  transpose(rows, cols, from, from_row, to, to_row);
}
void transpose_double(std::size_t rows, std::size_t cols, const double* from, std::size_t from_row,
                      double* to, std::size_t to_row) {
  transpose(rows, cols, from, from_row, to, to_row);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(width_float);
HWY_EXPORT(width_double);
HWY_EXPORT(pack_float);
HWY_EXPORT(pack_double);
HWY_EXPORT(transpose_float);
HWY_EXPORT(transpose_double);

void multiply_tile(const Tile<float>& tile, Rounding rounding) {
  HWY_DYNAMIC_DISPATCH(multiply_float)(tile, rounding);
}
void multiply_tile(const Tile<double>& tile, Rounding rounding) {
  HWY_DYNAMIC_DISPATCH(multiply_double)(tile, rounding);
}

template <>
std::size_t panel_width<float>() {
  return HWY_DYNAMIC_DISPATCH(width_float)();
}
template <>
std::size_t panel_width<double>() {
  return HWY_DYNAMIC_DISPATCH(width_double)();
}

void pack_panel(std::size_t k, std::size_t n, const float* from, std::size_t row,
                std::size_t column, float* to) {
  HWY_DYNAMIC_DISPATCH(pack_float)(k, n, from, row, column, to);
}
void pack_panel(std::size_t k, std::size_t n, const double* from, std::size_t row,
                std::size_t column, double* to) {
  HWY_DYNAMIC_DISPATCH(pack_double)(k, n, from, row, column, to);
}

void transpose_tile(std::size_t rows, std::size_t cols, const float* from, std::size_t from_row,
                    float* to, std::size_t to_row) {
  HWY_DYNAMIC_DISPATCH(transpose_float)(rows, cols, from, from_row, to, to_row);
}
void transpose_tile(std::size_t rows, std::size_t cols, const double* from, std::size_t from_row,
                    double* to, std::size_t to_row) {
  HWY_DYNAMIC_DISPATCH(transpose_double)(rows, cols, from, from_row, to, to_row);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
