// How files of tensors are read.
#pragma once

#include <string>

#include <tend/core/base/strict.h>

namespace tend::nn {

/// A part of a file that was not read.
struct LeftOut {
  std::string name;  ///< "labels", in a dict of a .pt file "optimizer.best", in a list "losses[2]"
  std::string why;   ///< "an object of 'numpy._core.multiarray.scalar'"
};

/// How files of tensors are read.
struct LoadOptions {
  /// Float32, float64 and int64 elements stay in the file, where it has them little-endian and
  /// aligned to their size, and are read when they are touched: a file may be larger than memory.
  /// Writing to such a tensor changes this process's copy and never the file. All other tensors
  /// are read at once.
  ///
  /// A mapped file must not be cut short or written into while a tensor or TokenFile of it lives:
  /// touching a page that is gone ends the process (SIGBUS), and the last page that is left reads
  /// as zeros behind the new end. The path may be given to another file, as write_file does it.
  Flag mmap = false;
};

}  // namespace tend::nn
