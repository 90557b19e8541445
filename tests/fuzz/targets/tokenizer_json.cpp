#include <tend/nn/text/byte_pair_encoding.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tend::test::load_fuzzed(data, size, [](const auto& path) {
    tend::nn::BytePairEncoding::load_tokenizer_json(path).encode("a  text 12");
  });
}
