#include <tend/nn/data/token_file.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tend::data::TokenType;
  const auto type = size % 3 == 0 ? TokenType::uint16 : TokenType::uint32;
  return tend::test::load_fuzzed(data, size, [&](const auto& path) {
    const tend::data::TokenFile file(path, type);
    file.tokens(0, file.size());
    file.random_batch(2, 3);
  });
}
