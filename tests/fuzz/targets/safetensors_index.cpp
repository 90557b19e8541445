#include <cstdlib>
#include <fstream>

#include <tend/nn/files/safetensors.h>
#include <tend/nn/files/safetensors_file.h>

#include "tests/fuzz/targets/file_target.h"

namespace {

// A folder with two files of tensors, "one" and "two".
std::filesystem::path folder_of_parts() {
  std::string name = (std::filesystem::temp_directory_path() / "tend-fuzz-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  const tend::Tensor x(tend::Array::zeros({2, 3}, tend::float32));
  tend::nn::save_safetensors(name + "/one", {{"a", x}, {"b", x}});
  tend::nn::save_safetensors(name + "/two", {{"b", x}, {"c", x}}, {{"format", "pt"}});
  return name;
}

}  // namespace

// The fuzzed input is an index in the same folder.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path index = folder_of_parts() / "index.json";
  std::ofstream(index, std::ios::binary) << tend::test::text_of(data, size);
  return tend::test::load_fuzzed(size, [&] {
    const tend::nn::SafetensorsFile file(index, {.mmap = size % 2 == 0});
    for (const auto& entry : file.entries()) file.load(entry.name);
  });
}
