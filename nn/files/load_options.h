// Options for reading files of tensors.
#pragma once

#include <string>

#include <tend/core/base/strict.h>

namespace tend::nn {

/// A part of a file that was not read.
struct LeftOut {
  /// Its name, such as "labels", or in a .pt file "optimizer.best" in a dict and "losses[2]" in a
  /// list.
  std::string name;
  std::string why;  ///< The reason, such as "an object of 'numpy._core.multiarray.scalar'".
};

/// Options for reading files of tensors.
struct LoadOptions {
  /// Maps the file into memory, so that elements are read only when they are used. The file may
  /// then be larger than memory.
  ///
  /// This concerns float32, float64 and int64 elements that the file stores as little-endian
  /// numbers, aligned to their size. All other tensors are read at once. Writing to a mapped tensor
  /// changes this process's copy and never the file.
  ///
  /// Do not write into a mapped file, and do not shorten it, while a tensor or TokenFile of it
  /// lives. Reading a page that no longer exists ends the process (SIGBUS). In the last remaining
  /// page, the bytes after the new end read as zeros. Another file may get the path, as with
  /// write_file.
  Flag mmap = false;
};

}  // namespace tend::nn
