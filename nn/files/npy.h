// Single arrays in files that NumPy reads and writes.
#pragma once

#include <filesystem>

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/files/load_options.h>

namespace tend::nn {

/// Writes a .npy file (version 1, little-endian, C order) with float32, float64, int64 or bool, as
/// write_file does: a regular file appears whole or not at all. IoError for an undefined tensor,
/// for more than 64 dimensions, and where the file cannot be written. Format:
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
void save_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Reads .npy files of versions 1 to 3, in C or Fortran order and either byte order: float32,
/// float64, int64 and bool as they are, float16 as float32, other integers as int64. Fortran order
/// gives a tensor with such strides. Nothing of the header is trusted, and nothing may follow the
/// elements: IoError names the path and what is wrong, also for other dtypes (complex, longdouble,
/// text, dates, structures, objects), a uint64 that int64 cannot hold, and what is no regular file.
/// With mmap the elements stay in the file, as numpy.load's mmap_mode = "c" has it.
Tensor load_npy(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tend::nn
