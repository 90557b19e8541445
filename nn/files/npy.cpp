#include <tend/nn/files/npy.h>

#include <string>

#include <tend/core/base/error.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/npy_format.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const std::string header = npy::header_text("save_npy", path.string(), tensor);
  const Array dense = tensor.array().contiguous();
  const auto fill = [&](const PutBytes& put) {
    put(header.data(), header.size());
    put(dense.raw(), static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
  };
  write_file(path, fill, "save_npy");
}

Tensor load_npy(const std::filesystem::path& path, const LoadOptions& options) {
  InputFile file(path, "load_npy");
  npy::MappedElements mapped;
  if (options.mmap) {
    mapped = std::bind_front(&MappedFile::array, MappedFile(file, PageAccess::copied_when_written));
  }
  return npy::read({"load_npy", path.string(), file.size(),
                    [&](void* to, std::uint64_t bytes) { file.read(to, bytes); }, mapped});
}

}  // namespace tend::nn
