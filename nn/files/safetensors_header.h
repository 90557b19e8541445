// The JSON of the safetensors format: the header of a file, with each tensor's dtype, shape and
// position, and the index of several files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/core/array/dtype.h>
#include <tend/core/array/shape.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/numbers.h>
#include <tend/nn/files/safetensors.h>
#include <tend/nn/module/state_dict.h>

namespace tend::nn::safetensors {

/// A dtype of the format.
struct StoredType {
  std::string_view name;
  NumberKind kind;
};

/// A tensor of a file; its bytes are [begin, end) of what follows the header.
struct Entry {
  std::string name;
  const StoredType* type = nullptr;
  Shape shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;  // in the order of their bytes, without gaps
  std::map<std::string, std::string> metadata;
};

/// The longest header that is written and read, as in the reference implementation.
inline constexpr std::uint64_t kMaxHeader = 100'000'000;

/// How elements of `dtype` are written.
const StoredType& stored_type(DType dtype, std::optional<HalfType> half);

/// The text for these tensors, which follow one another, padded to a multiple of 8 bytes.
/// Throws: IoError  - a name cannot be stored
///                  - the tensors take more than 2^63 bytes
///                  - the text is longer than kMaxHeader
std::string header_text(const std::filesystem::path& path, const StateDict& tensors,
                        const SafetensorsOptions& options);

/// Reads such a text, in time n log n.
/// Throws: IoError  - the format does not allow the text (a name used twice, a number that is not a
///                    size, lists within lists, ...)
///                  - the tensors do not fill `data_bytes` bytes without gap and overlap
Header parse_header(const std::filesystem::path& path, const std::string& text,
                    std::int64_t data_bytes);

/// The names of files, by the names of their tensors.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// Reads a model.safetensors.index.json, which says which file has which tensor.
/// Throws: IoError  - the file is not such JSON
///                  - it names a file that is not in its own folder
WeightMap read_index(const FileName& file);

/// The text of an index. All names must be UTF-8.
std::string index_text(const WeightMap& files, std::int64_t total_size);

}  // namespace tend::nn::safetensors
