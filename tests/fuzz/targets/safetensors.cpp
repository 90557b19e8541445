#include <tend/nn/files/safetensors.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tend::test::load_fuzzed(data, size, [&](const auto& path) {
    tend::nn::load_safetensors(path, {.mmap = size % 2 == 0});
  });
}
