// model.safetensors.index.json: which file has which tensor.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <tend/nn/files/file_name.h>

namespace tend::nn::safetensors {

/// The names of files, by the names of their tensors.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// Reads an index. IoError for what is no such JSON, and for files that do not lie beside it.
WeightMap read_index(const FileName& file);

/// The text of an index. All names must be UTF-8.
std::string index_text(const WeightMap& files, std::int64_t total_size);

}  // namespace tend::nn::safetensors
