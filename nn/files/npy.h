// .npy files: single arrays, as NumPy reads and writes them.
#pragma once

#include <filesystem>

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/files/load_options.h>

namespace tend::nn {

/// Writes a tensor to a .npy file.
///
/// The file has the tensor's dtype (float32, float64, int64 or bool) and is of version 1,
/// little-endian and in C order. As with write_file, a regular file appears whole or not at all.
///
/// Throws:
///   IoError - the tensor is undefined or has more than 64 dimensions
///   IoError - the file cannot be written
///
/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
void save_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Reads a tensor from a .npy file of version 1, 2 or 3, in either byte order.
///
/// float32, float64, int64 and bool keep their dtype. float16 becomes float32, other integers
/// become int64. A file in Fortran order gives a tensor with the strides of that order. With mmap,
/// the elements stay in the file, as with mmap_mode="c" of numpy.load.
///
/// The reader trusts nothing in the header. Errors name the path.
///
/// Throws:
///   IoError - the path is not a regular file or cannot be read
///   IoError - the header is invalid, or does not match the file's size
///   IoError - the dtype is complex, longdouble, text, a date, a structure or an object
///   IoError - int64 cannot hold a uint64
Tensor load_npy(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tend::nn
