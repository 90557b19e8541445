#include <tend/nn/data/idx.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/views.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::data {
namespace {

// The type that this byte of the header means, or nullopt if it is unknown.
std::optional<nn::NumberKind> kind_of(unsigned char type) {
  switch (type) {
    case 0x08: return nn::NumberKind::u8;
    case 0x09: return nn::NumberKind::i8;
    case 0x0b: return nn::NumberKind::i16;
    case 0x0c: return nn::NumberKind::i32;
    case 0x0d: return nn::NumberKind::f32;
    case 0x0e: return nn::NumberKind::f64;
    default: return {};
  }
}

Shape read_shape(nn::InputFile& file, std::size_t dims) {
  Shape shape;
  for (std::size_t i = 0; i < dims; ++i) {
    std::array<unsigned char, 4> bytes;  // big-endian
    file.read(bytes.data(), bytes.size());
    std::int64_t size = 0;
    for (const unsigned char byte : bytes) size = size << 8 | byte;
    shape.push_back(size);
  }
  return shape;
}

// Reads the elements of `out`, which may have another dtype than the file's numbers.
void read_elements(nn::InputFile& file, nn::NumberKind kind, const Tensor& out) {
  constexpr std::int64_t kAtOnce = 1 << 16;
  const auto read = [&](void* to, std::uint64_t bytes) { file.read(to, bytes); };
  Tensor flat = out.view({-1});
  for (std::int64_t at = 0; at < flat.numel(); at += kAtOnce) {
    Tensor part = flat.slice(0, at, std::min(at + kAtOnce, flat.numel()));
    const Array numbers = Array::empty({part.numel()}, nn::widened(kind));
    nn::read_numbers(kind, /*swapped=*/true, read, numbers);
    part.copy_(Tensor(numbers));
  }
}

}  // namespace

Tensor load_idx(const std::filesystem::path& path, std::optional<DType> dtype) {
  nn::InputFile file(path, "load_idx");
  std::array<unsigned char, 4> magic;
  if (file.size() < magic.size()) file.refuse("has ", file.size(), " bytes, too few for a header");
  file.read(magic.data(), magic.size());
  if (magic[0] == 0x1f && magic[1] == 0x8b) file.refuse("is compressed by gzip: gunzip it first");
  if (magic[0] != 0 || magic[1] != 0)
    file.refuse("is not an IDX file: it does not begin with zeros");
  const std::size_t dims = magic[3], header = magic.size() * (dims + 1);
  if (file.size() < header) file.refuse("is cut off: the header should have ", dims, " sizes");
  const Shape shape = read_shape(file, dims);

  const auto kind = kind_of(magic[2]);
  if (!kind) file.refuse("has elements of the unknown type ", int{magic[2]});
  const auto bytes = static_cast<std::int64_t>(file.size() - header);
  if (nn::stored_bytes(*kind, shape) != bytes)
    file.refuse("has ", bytes, " bytes of elements, but its header says shape ", shape,
                " and element size ", nn::stored_size(*kind));
  const NoGradGuard no_grad;
  Tensor result = empty(shape, dtype.value_or(nn::widened(*kind)));
  read_elements(file, *kind, result);
  return result;
}

}  // namespace tend::data
