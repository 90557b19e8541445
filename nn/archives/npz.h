// Archives of arrays that NumPy reads and writes.
#pragma once

#include <filesystem>
#include <vector>

#include <tend/nn/files/load_options.h>
#include <tend/nn/module/state_dict.h>

namespace tend::nn {

/// The options of save_npz.
struct NpzOptions {
  bool compressed = false;  ///< as numpy.savez_compressed has it
};

/// Writes a .npz file, a zip archive with a .npy file for each tensor (see save_npy), whole or not
/// at all as write_file does. Needs the library tend::archives.
/// Throws: IoError  - a name is used twice, is not UTF-8, or is longer than 65531 bytes
///                  - a name has a control character, and libzip is an old one (1.7 is)
///                  - no .npy file holds a tensor
///                  - the file cannot be written, or the path is not a regular file
void save_npz(const std::filesystem::path& path, const StateDict& tensors,
              const NpzOptions& options = {});

/// The arrays of a file, and what of it was not read.
struct NpzFile : StateDict {
  std::vector<LeftOut> left_out;
};

/// Reads a .npz file, stored or deflated, in the order of the archive's directory; each array as
/// load_npy does. Arrays of text, objects, complex numbers and other dtypes that tend lacks are not
/// read: the result lists them. IoError if there is nothing else. Nothing of the archive is
/// trusted: IoError names the path and what is wrong, also for a checksum that differs, names used
/// twice, sizes that cannot be, and entries other than .npy. With mmap, entries that are deflated
/// or not aligned are read at once, as LoadOptions says; what save_npz stores is aligned, what
/// NumPy stores only by chance. Checksums of entries whose elements stay in the file are not
/// compared.
NpzFile load_npz(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tend::nn
