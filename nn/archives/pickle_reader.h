// Data of Python's pickle, as far as files of torch.save hold it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tend/core/array/array.h>
#include <tend/nn/archives/byte_reader.h>
#include <tend/nn/archives/pt.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn::pickle {

/// Lists and dicts within each other, at most.
constexpr int kMaxDepth = 64;
/// Bytes of a pickle, which are the data beside storages. Real files have some kilobytes; this
/// bounds what objects can take.
constexpr std::uint64_t kMaxPickle = std::uint64_t{64} << 20;

/// A storage that a tensor of the pickle lies in.
struct StorageName {
  NumberKind kind = NumberKind::f32;
  std::string key;
  std::int64_t numel = 0;
};

/// The elements of a storage, of dtype widened(kind); the same memory each time.
using FindStorage = std::function<Array(const StorageName&)>;

/// Reads one pickle up to its last opcode; one without storages if there is no `find_storage`. It
/// runs no code: it knows the opcodes that make data and the classes and functions that torch.save
/// uses for tensors, and leaves out objects of all others. IoError if nothing is left. Time and
/// memory are in proportion to the bytes of the pickle, at most kMaxPickle.
PtFile read(ByteReader& reader, const FindStorage& find_storage = {});

}  // namespace tend::nn::pickle
