// Archives of arrays that NumPy reads and writes.
#pragma once

#include <filesystem>
#include <vector>

#include <tend/nn/files/load_options.h>
#include <tend/nn/module/state_dict.h>

namespace tend::nn {

/// The options of save_npz.
struct NpzOptions {
  bool compressed = false;  ///< True deflates the arrays, as numpy.savez_compressed does.
};

/// Writes a .npz file: a zip archive with a .npy file for each tensor (see save_npy).
///
/// As with write_file, the file appears whole or not at all. Needs the library tend::archives.
///
/// Throws:
///   IoError - a name is used twice, is not UTF-8, or is longer than 65531 bytes
///   IoError - a name has a control character, and libzip is old (for example 1.7)
///   IoError - a tensor cannot be stored in a .npy file
///   IoError - the file cannot be written, or the path is not a regular file
void save_npz(const std::filesystem::path& path, const StateDict& tensors,
              const NpzOptions& options = {});

/// The arrays of a file, and a list of the entries that were not read.
struct NpzFile : StateDict {
  std::vector<LeftOut> left_out;
};

/// Reads a .npz file, stored or deflated, in the order of the archive's directory.
///
/// Each array becomes the same tensor as with load_npy. The result's `left_out` lists the arrays
/// that are not read: arrays of text, objects, complex numbers and other dtypes that tend lacks.
///
/// With mmap, entries that are deflated or not aligned are read immediately, as LoadOptions says.
/// save_npz aligns the entries that it stores; entries from NumPy are aligned only by chance. The
/// checksum of a mapped entry is not checked.
///
/// Throws:
///   IoError - the file cannot be read, or all of its arrays are left out
///   IoError - a checksum differs, a size is impossible, or a name is used twice
///   IoError - an entry is not a .npy file
NpzFile load_npz(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tend::nn
