// Transposing small matrices, from which copies and loops over transposed arrays are made.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// Row r of `to` is column r of `from`, for `rows` x `columns` elements of `item` bytes (1, 4 or
/// 8). Rows of `to` start `to_step` bytes apart, rows of `from` (of which there are `columns`)
/// `from_step`, not negative; the two must not overlap.
void transpose_bytes(std::byte* to, std::int64_t to_step, const std::byte* from,
                     std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                     std::int64_t item);

}  // namespace tend::kernels
