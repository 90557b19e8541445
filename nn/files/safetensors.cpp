#include <tend/nn/files/safetensors.h>

#include <bit>
#include <utility>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/numbers.h>
#include <tend/nn/files/safetensors_header.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

using safetensors::Entry;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

// The longest header that is read, as in the reference implementation.
constexpr std::uint64_t kMaxHeader = 100'000'000;

std::string read_header(InputFile& file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) file.refuse("is too short for a header");
  file.read(&length, sizeof length);
  if (length > kMaxHeader || length > file.size() - sizeof length) {
    file.refuse("a header of ", length, " bytes in a file of ", file.size());
  }
  std::string text(length, '\0');
  file.read(text.data(), length);
  return text;
}

Tensor read_tensor(InputFile& file, const Entry& entry) {
  const Tensor out = empty(entry.shape, entry.type->dtype);
  const auto read = [&](void* to, std::uint64_t bytes) { file.read(to, bytes); };
  read_numbers(entry.type->kind, /*swapped=*/false, read, out.array());
  return out;
}

void save(const std::filesystem::path& path, const StateDict& tensors,
          const std::map<std::string, std::string>& metadata) {
  const std::string header = safetensors::header_text(path, tensors, metadata);
  const std::uint64_t length = header.size();
  const auto fill = [&](const PutBytes& put) {
    put(&length, sizeof length);
    put(header.data(), header.size());
    for (const auto& [name, tensor] : tensors) {
      const Array dense = tensor.array().contiguous();
      put(dense.raw(), static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
    }
  };
  write_file(path, fill, "save_safetensors");
}

Safetensors load(const std::filesystem::path& path) {
  InputFile file(path, "load_safetensors");
  const std::string text = read_header(file);
  const std::uint64_t data_bytes = file.size() - sizeof(std::uint64_t) - text.size();
  safetensors::Header header =
      safetensors::parse_header(path, text, static_cast<std::int64_t>(data_bytes));
  Safetensors out;
  out.metadata = std::move(header.metadata);
  for (const Entry& entry : header.entries) {
    out.tensors.emplace_back(entry.name, read_tensor(file, entry));
  }
  return out;
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const std::map<std::string, std::string>& metadata) {
  with_memory([&] { save(path, tensors, metadata); });
}

Safetensors load_safetensors(const std::filesystem::path& path) {
  return with_memory([&] { return load(path); });
}

}  // namespace tend::nn
