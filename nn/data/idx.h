// IDX files, the format of MNIST and its like.
#pragma once

#include <filesystem>
#include <optional>

#include <tend/autograd/tensor/tensor.h>

namespace tend::data {

/// The tensor of an IDX file, as MNIST's train-images-idx3-ubyte: of the file's shape, in the given
/// dtype; if none is given, int64 for integers, and float32 or float64 as the file has them.
/// Nothing of the header is trusted: IoError for another format, an unknown type, and a size that
/// is not the file's. Such files often come compressed, which is an IoError, too: gunzip them
/// first. Format: Y. LeCun, http://yann.lecun.com/exdb/mnist.
Tensor load_idx(const std::filesystem::path& path, std::optional<DType> dtype = std::nullopt);

}  // namespace tend::data
