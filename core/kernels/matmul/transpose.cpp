#include <tend/core/kernels/matmul/transpose.h>

#include <tend/core/kernels/matmul/tiles.h>

namespace tend::kernels {
namespace {

// Elements are moved as T, whatever they are.
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
