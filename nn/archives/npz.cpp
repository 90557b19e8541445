#include <tend/nn/archives/npz.h>

#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/archives/zip_writer.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/npy_format.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string entry_name(const std::filesystem::path& path, std::string_view name) {
  return as_text(path.string(), ", '", shown(name), "'");
}

void save(const std::filesystem::path& path, const StateDict& tensors, const NpzOptions& options) {
  std::unordered_set<std::string> names;
  std::vector<std::string> headers;
  for (const auto& [name, tensor] : tensors) {
    check_entry_name("save_npz", path, name + std::string(kSuffix), names);
    headers.push_back(npy::header_text("save_npz", entry_name(path, name), tensor));
  }
  const auto fill = [&](const PutBytes& put) {
    ZipWriter archive(put, {options.compressed});
    auto header = headers.begin();
    for (const auto& [name, tensor] : tensors) {
      const Array dense = tensor.array().contiguous();
      const std::array<std::string_view, 2> parts{
          *header++,
          {static_cast<const char*>(dense.raw()),
           static_cast<std::size_t>(dense.numel() * item_size(dense.dtype()))}};
      archive.add(name + std::string(kSuffix), parts);
    }
    archive.finish();
  };
  write_file(path, fill, "save_npz");
}

StateDict load(const std::filesystem::path& path) {
  const ZipReader archive(path, "load_npz");
  StateDict out;
  for (const std::string& name : archive.names()) {
    if (!name.ends_with(kSuffix)) archive.refuse("entry '", shown(name), "' is no .npy file");
    const std::string key = name.substr(0, name.size() - kSuffix.size());
    ZipReader::Entry entry = archive.open(name);
    out.emplace_back(key,
                     npy::read({"load_npz", entry_name(path, key), entry.size(),
                                [&](void* to, std::uint64_t bytes) { entry.read(to, bytes); }}));
    entry.finish();
  }
  return out;
}

}  // namespace

void save_npz(const std::filesystem::path& path, const StateDict& tensors,
              const NpzOptions& options) {
  with_memory([&] { save(path, tensors, options); });
}

StateDict load_npz(const std::filesystem::path& path) {
  return with_memory([&] { return load(path); });
}

}  // namespace tend::nn
