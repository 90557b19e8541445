// The formats of torch.save around their pickle: where the storages' elements lie.
#pragma once

#include <filesystem>

#include <tend/nn/archives/pt.h>

namespace tend::nn::pickle {

/// A zip archive: NAME/data.pkl, NAME/data/KEY for each storage, and NAME/byteorder.
PtValue read_zip(const std::filesystem::path& path);
/// Five pickles (a magic number, a version, facts of the system, the value, the keys of the
/// storages), and then each storage's count and elements, always little-endian.
PtValue read_legacy(const std::filesystem::path& path);

}  // namespace tend::nn::pickle
