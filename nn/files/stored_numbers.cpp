#include <tend/nn/files/stored_numbers.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include <tend/nn/files/half.h>

namespace tend::nn {
namespace {

// The number of elements that are read at a time, so that conversion needs little memory.
constexpr std::int64_t kNumbersAtOnce = 16'384;

template <class T>
void swap_bytes(T* numbers, std::int64_t count) {
  for (T* each = numbers; each != numbers + count; ++each) {
    auto* const first = reinterpret_cast<unsigned char*>(each);
    std::reverse(first, first + sizeof(T));
  }
}

template <class From, class To, class Convert>
std::optional<std::int64_t> read_converted(bool swapped, const ReadBytes& read, const Array& out,
                                           Convert convert) {
  std::vector<From> stored(
      static_cast<std::size_t>(std::min<std::int64_t>(kNumbersAtOnce, out.numel())));
  To* const to = out.data<To>();
  for (std::int64_t done = 0; done < out.numel();) {
    const std::int64_t count = std::min(kNumbersAtOnce, out.numel() - done);
    read(stored.data(), static_cast<std::uint64_t>(count) * sizeof(From));
    if (swapped) swap_bytes(stored.data(), count);
    for (std::int64_t i = 0; i < count; ++i) {
      const From number = stored[static_cast<std::size_t>(i)];
      if constexpr (std::is_same_v<From, std::uint64_t>) {
        if (number > std::numeric_limits<std::int64_t>::max()) return done + i;
      }
      to[done + i] = convert(number);
    }
    done += count;
  }
  return std::nullopt;
}

template <class From>
std::optional<std::int64_t> read_integers(bool swapped, const ReadBytes& read, const Array& out) {
  return read_converted<From, std::int64_t>(
      swapped, read, out, [](From number) { return static_cast<std::int64_t>(number); });
}

// Reads numbers that need no conversion.
template <class T>
std::optional<std::int64_t> read_same(bool swapped, const ReadBytes& read, const Array& out) {
  read(out.raw(), static_cast<std::uint64_t>(out.numel()) * sizeof(T));
  if (swapped) swap_bytes(out.data<T>(), out.numel());
  return std::nullopt;
}

template <class From>
void write_half(NumberKind kind, const Array& dense, const PutBytes& put) {
  const auto convert = kind == NumberKind::f16 ? float_to_half : float_to_bfloat;
  std::vector<std::uint16_t> stored(
      static_cast<std::size_t>(std::min<std::int64_t>(kNumbersAtOnce, dense.numel())));
  const From* from = dense.data<From>();
  for (std::int64_t left = dense.numel(); left > 0; left -= kNumbersAtOnce) {
    const std::int64_t count = std::min(kNumbersAtOnce, left);
    std::transform(from, from + count, stored.begin(),
                   [&](From number) { return convert(static_cast<float>(number)); });
    put(stored.data(), static_cast<std::size_t>(count) * sizeof(std::uint16_t));
    from += count;
  }
}

}  // namespace

std::int64_t stored_size(NumberKind kind) noexcept {
  switch (kind) {
    case NumberKind::boolean:
    case NumberKind::i8:
    case NumberKind::u8: return 1;
    case NumberKind::i16:
    case NumberKind::u16:
    case NumberKind::f16:
    case NumberKind::bf16: return 2;
    case NumberKind::i32:
    case NumberKind::u32:
    case NumberKind::f32: return 4;
    default: return 8;
  }
}

NumberKind kind_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean: return NumberKind::boolean;
    case DType::int64: return NumberKind::i64;
    case DType::float32: return NumberKind::f32;
    case DType::float64: break;
  }
  return NumberKind::f64;
}

DType widened(NumberKind kind) noexcept {
  switch (kind) {
    case NumberKind::boolean: return boolean;
    case NumberKind::f16:
    case NumberKind::bf16:
    case NumberKind::f32: return float32;
    case NumberKind::f64: return float64;
    default: return int64;
  }
}

std::optional<std::int64_t> stored_bytes(NumberKind kind, const Shape& shape) noexcept {
  constexpr std::int64_t kLargestItem = 8;  // the size of int64; smaller integers are read as int64
  std::int64_t bytes = kLargestItem;
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    is_empty |= size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) return {};
  }
  return is_empty ? 0 : bytes / kLargestItem * stored_size(kind);
}

std::optional<std::int64_t> read_numbers(NumberKind kind, bool swapped, const ReadBytes& read,
                                         const Array& out) {
  switch (kind) {
    case NumberKind::boolean:
      return read_converted<unsigned char, bool>(false, read, out,
                                                 [](unsigned char byte) { return byte != 0; });
    case NumberKind::i8: return read_integers<std::int8_t>(swapped, read, out);
    case NumberKind::i16: return read_integers<std::int16_t>(swapped, read, out);
    case NumberKind::i32: return read_integers<std::int32_t>(swapped, read, out);
    case NumberKind::i64: return read_same<std::int64_t>(swapped, read, out);
    case NumberKind::u8: return read_integers<std::uint8_t>(swapped, read, out);
    case NumberKind::u16: return read_integers<std::uint16_t>(swapped, read, out);
    case NumberKind::u32: return read_integers<std::uint32_t>(swapped, read, out);
    case NumberKind::u64: return read_integers<std::uint64_t>(swapped, read, out);
    case NumberKind::f16:
      return read_converted<std::uint16_t, float>(swapped, read, out, half_to_float);
    case NumberKind::bf16:
      return read_converted<std::uint16_t, float>(swapped, read, out, bfloat_to_float);
    case NumberKind::f32: return read_same<float>(swapped, read, out);
    case NumberKind::f64: break;
  }
  return read_same<double>(swapped, read, out);
}

void write_numbers(NumberKind kind, const Array& dense, const PutBytes& put) {
  if (kind != NumberKind::f16 && kind != NumberKind::bf16) {
    put(dense.raw(), static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
  } else if (dense.dtype() == float32) {
    write_half<float>(kind, dense, put);
  } else {
    write_half<double>(kind, dense, put);
  }
}

}  // namespace tend::nn
