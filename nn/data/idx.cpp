#include <tend/nn/data/idx.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tend/autograd/ops/creation.h>
#include <tend/core/array/scalar.h>
#include <tend/core/base/error.h>
#include <tend/nn/files/input_file.h>

namespace tend::data {
namespace {

template <std::size_t bytes>
using Unsigned = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
T big_endian(const unsigned char* bytes) {
  Unsigned<sizeof(T)> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bits = static_cast<decltype(bits)>(static_cast<std::uint64_t>(bits) << 8 | bytes[i]);
  return std::bit_cast<T>(bits);
}

// Calls f with a value of the type that the header names by this byte; false for no type.
template <class F>
bool with_type(unsigned char type, F f) {
  switch (type) {
    case 0x08: return f(std::uint8_t{}), true;
    case 0x09: return f(std::int8_t{}), true;
    case 0x0b: return f(std::int16_t{}), true;
    case 0x0c: return f(std::int32_t{}), true;
    case 0x0d: return f(float{}), true;
    case 0x0e: return f(double{}), true;
    default: return false;
  }
}

template <class F>
void with_dtype(DType dtype, F f) {
  switch (dtype) {
    case DType::boolean: return f(bool{});
    case DType::int64: return f(std::int64_t{});
    case DType::float32: return f(float{});
    case DType::float64: return f(double{});
  }
}

Shape read_shape(nn::InputFile& file, std::size_t dims) {
  Shape shape;
  for (std::size_t i = 0; i < dims; ++i) {
    std::array<unsigned char, 4> bytes;
    file.read(bytes.data(), bytes.size());
    shape.push_back(big_endian<std::uint32_t>(bytes.data()));
  }
  return shape;
}

// Whether a tensor of this shape has exactly so many bytes. Sizes that overflow together are
// refused even where one of them is 0.
bool has_bytes(const Shape& shape, std::uint64_t item, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::uint64_t product = item;
  bool is_empty = false;
  for (const std::int64_t dim : shape) {
    const auto size = static_cast<std::uint64_t>(dim);
    if (size == 0) {
      is_empty = true;
    } else if (product > kMost / size) {
      return false;
    } else {
      product *= size;
    }
  }
  return bytes == (is_empty ? 0 : product);
}

template <class From, class To>
void read_elements(nn::InputFile& file, std::int64_t count, To* to) {
  std::array<unsigned char, 8192> bytes;
  while (count > 0) {
    const std::int64_t now = std::min(count, std::ssize(bytes) / std::int64_t{sizeof(From)});
    file.read(bytes.data(), static_cast<std::uint64_t>(now) * sizeof(From));
    for (std::int64_t i = 0; i < now; ++i)
      *to++ =
          convert<To>(big_endian<From>(bytes.data() + static_cast<std::size_t>(i) * sizeof(From)));
    count -= now;
  }
}

}  // namespace

Tensor load_idx(const std::filesystem::path& path, std::optional<DType> dtype) {
  nn::InputFile file(path, "load_idx");
  std::array<unsigned char, 4> magic;
  if (file.size() < magic.size()) file.refuse("has ", file.size(), " bytes, too few for a header");
  file.read(magic.data(), magic.size());
  if (magic[0] == 0x1f && magic[1] == 0x8b) file.refuse("is compressed by gzip: gunzip it first");
  if (magic[0] != 0 || magic[1] != 0) file.refuse("is no IDX file: it does not begin with zeros");
  const std::size_t dims = magic[3], header = magic.size() * (dims + 1);
  if (file.size() < header) file.refuse("ends within the sizes of its ", dims, " dimensions");
  const Shape shape = read_shape(file, dims);

  Tensor result;
  const bool is_known = with_type(magic[2], [&](auto kind) {
    using From = decltype(kind);
    if (!has_bytes(shape, sizeof(From), file.size() - header))
      file.refuse("has ", file.size() - header, " bytes of elements, which do not make ", shape,
                  " of ", sizeof(From), " bytes each");
    constexpr DType kUsual = std::is_same_v<From, float>    ? DType::float32
                             : std::is_same_v<From, double> ? DType::float64
                                                            : DType::int64;
    result = empty(shape, dtype.value_or(kUsual));
    with_dtype(result.dtype(), [&](auto to) {
      read_elements<From>(file, result.numel(), result.data_ptr<decltype(to)>());
    });
  });
  if (!is_known) file.refuse("has elements of the unknown type ", int{magic[2]});
  return result;
}

}  // namespace tend::data
