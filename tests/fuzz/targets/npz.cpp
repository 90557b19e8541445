#include <tend/nn/archives/npz.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tend::test::load_fuzzed(
      data, size, [&](const auto& path) { tend::nn::load_npz(path, {.mmap = size % 2 == 0}); });
}
