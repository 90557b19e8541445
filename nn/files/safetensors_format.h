// Definitions that the writer and the reader of .safetensors files share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tend/core/array/shape.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn::safetensors {

/// A dtype of the format.
struct StoredType {
  std::string_view name;
  NumberKind kind;
};

inline constexpr std::array kStoredTypes{
    StoredType{"F64", NumberKind::f64},      StoredType{"F32", NumberKind::f32},
    StoredType{"F16", NumberKind::f16},      StoredType{"BF16", NumberKind::bf16},
    StoredType{"I64", NumberKind::i64},      StoredType{"I32", NumberKind::i32},
    StoredType{"I16", NumberKind::i16},      StoredType{"I8", NumberKind::i8},
    StoredType{"U64", NumberKind::u64},      StoredType{"U32", NumberKind::u32},
    StoredType{"U16", NumberKind::u16},      StoredType{"U8", NumberKind::u8},
    StoredType{"BOOL", NumberKind::boolean},
};

/// The name of the header's member for the metadata.
inline constexpr std::string_view kMetadata = "__metadata__";
/// The length of the longest header, for reading and writing, as in the reference implementation.
inline constexpr std::uint64_t kMaxHeader = 100'000'000;
inline constexpr std::size_t kMaxDims = 64;

/// A tensor of a file. Its bytes are [begin, end), counted from the end of the header.
struct Entry {
  std::string name;
  StoredType type;
  Shape shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;  // in the order of their bytes, without gaps
  std::map<std::string, std::string> metadata;
};

/// The content of an index: for the name of each tensor, the name of its file.
using WeightMap = std::map<std::string, std::string, std::less<>>;

}  // namespace tend::nn::safetensors
