// What tile_product.h multiplies.
#pragma once

#include <cstddef>

namespace tend::kernels {

/// c = alpha * a @ b + beta * c + bias, the last for every row. The element (i, p) of a lies at a[i
/// * a_row + p * a_step], (i, j) of c at c[i * c_row + j], (p, j) of b at b[p * b_row + j] or, when
/// b is packed, in panels of `panel_width` columns: panel j / width at b + j / width * b_panel, in
/// it rows of `b_row` elements. All steps are in elements.
template <class T>
struct Tile {
  std::size_t m, n, k;
  const T* a;
  std::size_t a_row, a_step;
  const T* b;
  std::size_t b_row;
  std::size_t b_panel;  // the panels' width when b is not packed
  T* c;
  std::size_t c_row;
  T alpha, beta;
  const T* bias = nullptr;  // n elements, or none
};

/// How the terms of a sum are added.
enum class Rounding {
  fused,    // with an FMA, where the target has one
  separate  // each product and each sum rounded by itself, which is what a plain loop does
};

}  // namespace tend::kernels
