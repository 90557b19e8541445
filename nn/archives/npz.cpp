#include <tend/nn/archives/npz.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/archives/zip_writer.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/npy_format.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string entry_name(const std::filesystem::path& path, std::string_view name) {
  return as_text(path.string(), ", '", shown(name), "'");
}

// The archive that load_npz reads.
struct Archive {
  const std::filesystem::path& path;
  ZipReader archive;
  std::optional<MappedFile> mapping = {};

  // Returns the mapped elements of an entry, or nullopt if the entry cannot be mapped. The entry's
  // header must have been read. The file is mapped only when a stored entry needs it, because
  // writable pages count against the process's limits.
  std::optional<Array> mapped(const ZipReader::Entry& entry, NumberKind kind,
                              std::uint64_t position, const Shape& shape) {
    const std::optional<std::uint64_t> begin = entry.position();
    if (!begin) return {};
    if (!mapping) mapping.emplace(archive.file(), PageAccess::copied_when_written);
    // If a future libzip reads ahead, `begin` is wrong. Then the entry is not mapped but read.
    if (!npy::has_magic(mapping->data() + *begin)) return {};
    return mapping->array(kind, *begin + position, shape);
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
    // The checksum can be checked only after all bytes of the entry were read. The elements of a
    // mapped entry are not read here.
    if (entry.is_read()) entry.finish();
    return out;
  }
};

}  // namespace

void save_npz(const std::filesystem::path& path, const StateDict& tensors,
              const NpzOptions& options) {
  // The headers and arrays own the bytes that the entries view. A header has a multiple of 64
  // bytes, so the elements are aligned like the entries.
  std::deque<std::string> headers;
  std::vector<Array> arrays;
  std::vector<ZipEntry> entries;
  for (const auto& [name, tensor] : tensors) {
    headers.push_back(npy::header_text("save_npz", entry_name(path, name), tensor));
    const Array& dense = arrays.emplace_back(tensor.array().contiguous());
    const auto bytes = static_cast<std::size_t>(dense.numel() * item_size(dense.dtype()));
    entries.push_back({name + std::string(kSuffix),
                       {headers.back(), {static_cast<const char*>(dense.raw()), bytes}}});
  }
  const auto fill = [&](const PutBytesAt& put) {
    put_zip({"save_npz", path}, entries, options.compressed, put);
  };
  write_file_at(path, fill, "save_npz");
}

NpzFile load_npz(const std::filesystem::path& path, const LoadOptions& options) {
  Archive file{path, ZipReader(path, "load_npz")};
  NpzFile out;
  for (const std::string& name : file.archive.names()) {
    if (!name.ends_with(kSuffix))
      file.archive.refuse("entry '", shown(name), "' is not a .npy file");
    const std::string key = name.substr(0, name.size() - kSuffix.size());
    try {
      out.emplace_back(key, file.read(name, key, options));
    } catch (const npy::UnreadDType& error) {
      out.left_out.push_back({key, error.what()});
    }
  }
  if (out.empty() && !out.left_out.empty()) throw IoError(out.left_out.front().why);
  return out;
}

}  // namespace tend::nn
