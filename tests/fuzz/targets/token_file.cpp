#include <tend/nn/data/token_file.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tend::data::TokenType;
  const auto type = size % 3 == 0 ? TokenType::uint16 : TokenType::uint32;
  return tend::test::load_fuzzed(data, size, [&](const auto& path) {
    for (const bool mmap : {false, true}) {
      const tend::data::TokenFile file(path, type, {.mmap = mmap});
      file.tokens(0, file.size());
      file.random_batch(2, 3);
    }
  });
}
