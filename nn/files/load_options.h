// Options for reading files of tensors.
#pragma once

#include <string>

#include <tend/core/base/strict.h>

namespace tend::nn {

/// A part of a file that was not read.
struct LeftOut {
  /// The name of the part, such as "labels". In a .pt file, the name is a path through dicts and
  /// lists, such as "optimizer.best" or "losses[2]".
  std::string name;
  std::string why;  ///< The reason, such as "an object of 'numpy._core.multiarray.scalar'".
};

/// Options for reading files of tensors.
struct LoadOptions {
  /// Maps the file into memory, so that elements are read only when they are used. The file may
  /// then be larger than memory.
  ///
  /// Only float32, float64 and int64 elements are mapped, if the file stores them as little-endian
  /// numbers that are aligned to their size. All other tensors are read immediately. Writing to a
  /// mapped tensor changes this process's copy and never the file.
  ///
  /// Do not write into a mapped file, and do not shorten it, while a tensor or TokenFile of it
  /// lives. Reading a page that no longer exists ends the process (SIGBUS). In the last remaining
  /// page, the bytes after the new end read as zeros. Replacing the file by a new one with the same
  /// path, as write_file does, is safe.
  Flag mmap = false;
};

}  // namespace tend::nn
