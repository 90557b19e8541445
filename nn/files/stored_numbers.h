// Numbers as files hold them, which tend reads as the dtypes that it has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <tend/core/array/array.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {

enum class NumberKind : unsigned char {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64
};

/// Bytes of one number in the file.
std::int64_t stored_size(NumberKind kind) noexcept;
/// The kind in which numbers of a dtype are stored as they are.
NumberKind kind_of(DType dtype) noexcept;
/// The dtype that holds every value of that kind: float32 for 16-bit floats, int64 for all
/// integers.
DType widened(NumberKind kind) noexcept;
/// Bytes of a tensor of this shape in the file. Nothing if the sizes are too large for a tensor:
/// the product of those that are not zero is beyond 2^63 bytes.
std::optional<std::int64_t> stored_bytes(NumberKind kind, const Shape& shape) noexcept;

/// Reads the next bytes of a file.
using ReadBytes = std::function<void(void* to, std::uint64_t bytes)>;

/// Reads the elements of `out`, row-major and of dtype widened(kind). The file has them in the
/// other byte order when `swapped`. Returns the position of the first element that int64 cannot
/// hold (only u64 has such), where reading ends.
std::optional<std::int64_t> read_numbers(NumberKind kind, bool swapped, const ReadBytes& read,
                                         const Array& out);

/// Puts the elements of `dense`, which is row-major, as numbers of `kind`: as they are, or 16-bit
/// floats from float32 and, by way of float32 as PyTorch has it, from float64.
void write_numbers(NumberKind kind, const Array& dense, const PutBytes& put);

}  // namespace tend::nn
