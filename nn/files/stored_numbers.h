// The number types of files, and their conversion from and to tend's dtypes.
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

/// The number of bytes of one number in the file.
std::int64_t stored_size(NumberKind kind) noexcept;
/// The kind that stores numbers of a dtype without conversion.
NumberKind kind_of(DType dtype) noexcept;
/// The dtype that numbers of this kind have after they are read: float32 for 16-bit floats, int64
/// for all integers.
DType widened(NumberKind kind) noexcept;
/// The number of bytes of a tensor of this shape in the file, or nullopt if the shape is too large.
/// It is too large if 8 times the product of all sizes other than zero does not fit int64.
std::optional<std::int64_t> stored_bytes(NumberKind kind, const Shape& shape) noexcept;

/// Reads the next bytes of a file.
using ReadBytes = std::function<void(void* to, std::uint64_t bytes)>;

/// Reads the elements of `out`, which is row-major and has the dtype widened(kind).
///
/// If `swapped` is true, the file has the other byte order. If int64 cannot hold an element, which
/// happens only with u64, the function stops and returns the position of that element.
std::optional<std::int64_t> read_numbers(NumberKind kind, bool swapped, const ReadBytes& read,
                                         const Array& out);

/// Writes the elements of `dense`, which is row-major, as numbers of `kind`.
///
/// `kind` is kind_of(dtype), or a 16-bit float if the dtype is floating. As in PyTorch, float64 is
/// first rounded to float32 if it is written as a 16-bit float.
void write_numbers(NumberKind kind, const Array& dense, const PutBytes& put);

}  // namespace tend::nn
