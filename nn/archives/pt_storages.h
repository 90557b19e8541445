// The formats of torch.save around their pickle: where the storages' elements lie.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <tend/nn/archives/pickle_reader.h>
#include <tend/nn/archives/pt.h>
#include <tend/nn/files/file_name.h>

namespace tend::nn::pickle {

/// A zip archive: NAME/data.pkl, NAME/data/KEY for each storage, and NAME/byteorder.
PtValue read_zip(const std::filesystem::path& path);
/// Five pickles (a magic number, a version, facts of the system, the value, the keys of the
/// storages), and then each storage's count and elements, always little-endian.
PtValue read_legacy(const std::filesystem::path& path);
/// Bytes that the storage takes in a file; refuse(...) where that is more than `most`.
template <class Refuse>
std::uint64_t stored_bytes(const StorageName& name, std::uint64_t most, const Refuse& refuse) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(name.numel, stored_size(name.kind), &bytes) || bytes < 0 ||
      static_cast<std::uint64_t>(bytes) > most) {
    refuse("storage '", shown(name.key), "' of ", name.numel, " elements does not fit ", most,
           " bytes");
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tend::nn::pickle
