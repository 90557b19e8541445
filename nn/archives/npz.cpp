#include <tend/nn/archives/npz.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/archives/zip_writer.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/npy_format.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string entry_name(const std::filesystem::path& path, std::string_view name) {
  return as_text(path.string(), ", '", shown(name), "'");
}

// An archive of arrays that is being read.
struct NpzFile {
  const std::filesystem::path& path;
  ZipReader archive;
  std::optional<MappedFile> mapping = {};

  // Elements of an entry of which some bytes were read. The file is mapped for the first entry that
  // is stored: pages that can be written count against the process's limits.
  std::optional<Array> mapped(const ZipReader::Entry& entry, NumberKind kind,
                              std::uint64_t position, const Shape& shape) {
    const std::optional<std::uint64_t> place = entry.place();
    if (!place) return {};
    if (!mapping) mapping.emplace(archive.file(), PageAccess::copied_when_written);
    // A libzip that reads ahead, as none does yet, would tell another place. Then all is read.
    if (!npy::has_magic(mapping->data() + *place)) return {};
    return mapping->array(kind, *place + position, shape);
  }

  Tensor read(const std::string& name, const std::string& key, const LoadOptions& options) {
    ZipReader::Entry entry = archive.open(name);
    npy::Source source{"load_npz", entry_name(path, key), entry.size(),
                       [&](void* to, std::uint64_t bytes) { entry.read(to, bytes); }};
    if (options.mmap) {
      source.mapped = [&](NumberKind kind, std::uint64_t position, const Shape& shape) {
        return mapped(entry, kind, position, shape);
      };
    }
    Tensor out = npy::read(source);
    // The checksum is known after all bytes were read, which those that stay in the file were not.
    if (entry.is_read()) entry.finish();
    return out;
  }
};

StateDict load(const std::filesystem::path& path, const LoadOptions& options) {
  NpzFile file{path, ZipReader(path, "load_npz")};
  StateDict out;
  for (const std::string& name : file.archive.names()) {
    if (!name.ends_with(kSuffix)) file.archive.refuse("entry '", shown(name), "' is no .npy file");
    const std::string key = name.substr(0, name.size() - kSuffix.size());
    out.emplace_back(key, file.read(name, key, options));
  }
  return out;
}

}  // namespace

void save_npz(const std::filesystem::path& path, const StateDict& tensors,
              const NpzOptions& options) {
  const FileName file{"save_npz", path};
  std::vector<std::string> names, headers;
  std::vector<Array> arrays;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(name + std::string(kSuffix));
    headers.push_back(npy::header_text(file.operation, entry_name(path, name), tensor));
    arrays.push_back(tensor.array().contiguous());
  }
  const auto make = [&](const std::filesystem::path& temporary) {
    // As .npy itself aligns: its header takes a multiple of 64 bytes, so elements stay aligned.
    ZipWriter archive(file, temporary, {options.compressed, 64});
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(arrays[i].numel() * item_size(arrays[i].dtype()));
      const std::array<std::string_view, 2> parts{
          headers[i], {static_cast<const char*>(arrays[i].raw()), bytes}};
      archive.add(names[i], parts);
    }
    archive.finish();
  };
  replace_file(path, make, file.operation);
}

StateDict load_npz(const std::filesystem::path& path, const LoadOptions& options) {
  return load(path, options);
}

}  // namespace tend::nn
