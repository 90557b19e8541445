#include <tend/nn/text/vocabulary.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tend::test::load_fuzzed(data, size,
                          [](const auto& path) { tend::nn::CharVocabulary::load(path); });
  return tend::test::load_fuzzed(data, size,
                                 [](const auto& path) { tend::nn::WordVocabulary::load(path); });
}
