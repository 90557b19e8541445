#include <tend/nn/files/safetensors.h>

#include <bit>

#include <tend/core/base/error.h>
#include <tend/nn/files/safetensors_header.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

void save(const std::filesystem::path& path, const StateDict& tensors,
          const SafetensorsOptions& options) {
  const std::string header = safetensors::header_text(path, tensors, options);
  const std::uint64_t length = header.size();
  const auto fill = [&](const PutBytes& put) {
    put(&length, sizeof length);
    put(header.data(), header.size());
    for (const auto& [name, tensor] : tensors) {
      write_numbers(safetensors::stored_type(tensor.dtype(), options.dtype).kind,
                    tensor.array().contiguous(), put);
    }
  };
  write_file(path, fill, "save_safetensors");
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const SafetensorsOptions& options) {
  save(path, tensors, options);
}

}  // namespace tend::nn
