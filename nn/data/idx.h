// IDX files, the format of MNIST.
#pragma once

#include <filesystem>
#include <optional>

#include <tend/autograd/tensor/tensor.h>

namespace tend::data {

/// Reads the tensor of an IDX file, such as MNIST's train-images-idx3-ubyte.
///
/// `dtype` is the dtype of the result. By default it is int64 for integers, and the file's float32
/// or float64 for floating numbers. IDX files are often compressed: gunzip them first. The reader
/// trusts nothing in the header.
///
/// Throws:
///   IoError - the file cannot be read
///   IoError - the file has another format, or is compressed
///   IoError - the elements have an unknown type
///   IoError - the file's size does not match its header
///
/// Format: Y. LeCun, http://yann.lecun.com/exdb/mnist.
Tensor load_idx(const std::filesystem::path& path, std::optional<DType> dtype = std::nullopt);

}  // namespace tend::data
