#include <tend/core/kernels/fixed_targets.h>
// Before anything of Highway.
#include <tend/core/kernels/transpose.h>

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/transpose.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <tend/core/kernels/tile_product.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Elements are moved as T, whatever they are.
template <class T>
HWY_INLINE void transpose_as(std::byte* to, std::int64_t to_step, const std::byte* from,
                             std::int64_t from_step, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kItem = sizeof(T);
  transpose(static_cast<std::size_t>(columns), static_cast<std::size_t>(rows),
            reinterpret_cast<const T*>(from), static_cast<std::size_t>(from_step / kItem),
            reinterpret_cast<T*>(to), static_cast<std::size_t>(to_step / kItem));
}

void transpose_4(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t rows, std::int64_t columns) {
  transpose_as<float>(to, to_step, from, from_step, rows, columns);
}

void transpose_8(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t rows, std::int64_t columns) {
  transpose_as<double>(to, to_step, from, from_step, rows, columns);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(transpose_4);
HWY_EXPORT(transpose_8);

void transpose_bytes(std::byte* to, std::int64_t to_step, const std::byte* from,
                     std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                     std::int64_t item) {
  if (item == 4) {
    HWY_DYNAMIC_DISPATCH(transpose_4)(to, to_step, from, from_step, rows, columns);
  } else if (item == 8) {
    HWY_DYNAMIC_DISPATCH(transpose_8)(to, to_step, from, from_step, rows, columns);
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) to[r * to_step + c] = from[c * from_step + r];
    }
  }
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
