// The header of a .safetensors file: JSON text with each tensor's dtype, shape and position.
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

/// The text for these tensors, which lie one after the other, padded to a multiple of 8 bytes.
/// IoError, naming the path, for a name that cannot be stored, for tensors beyond 2^63 bytes
/// and for a text beyond kMaxHeader.
std::string header_text(const std::filesystem::path& path, const StateDict& tensors,
                        const SafetensorsOptions& options);

/// Reads such a text.
///
/// Throws:
///   IoError  - the text is not as the format has it, or uses a name twice; the tensors do not fill
///              `data_bytes` bytes without gap and overlap. The message names the path
Header parse_header(const std::filesystem::path& path, const std::string& text,
                    std::int64_t data_bytes);

}  // namespace tend::nn::safetensors
