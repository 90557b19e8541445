// Reads Python's pickle format, as far as torch.save uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tend/core/array/array.h>
#include <tend/nn/archives/byte_reader.h>
#include <tend/nn/archives/pt.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn::pickle {

/// The deepest nesting of lists and dicts.
constexpr int kMaxDepth = 64;
/// The most bytes of a pickle. A pickle contains all data except the elements of storages, usually
/// some kilobytes. The limit bounds the memory of the objects.
constexpr std::uint64_t kMaxPickle = std::uint64_t{64} << 20;

/// The description of a storage in a pickle.
struct StorageName {
  NumberKind kind = NumberKind::f32;
  std::string key;
  std::int64_t numel = 0;
};

/// Returns the elements of a storage, of dtype widened(kind). Repeated calls for a storage return
/// the same memory.
using FindStorage = std::function<Array(const StorageName&)>;

/// Reads one pickle, up to its last opcode.
///
/// It runs no code. It knows the opcodes that make data, and the classes and functions that
/// torch.save uses for tensors. It leaves out objects of all other classes. Time and memory are
/// proportional to the bytes of the pickle.
///
/// Throws:
///   IoError - the pickle is damaged, longer than kMaxPickle, or has an unknown opcode
///   IoError - the pickle refers to a storage, and there is no `find_storage`
///   IoError - everything is left out
PtFile read(ByteReader& reader, const FindStorage& find_storage = {});

}  // namespace tend::nn::pickle
