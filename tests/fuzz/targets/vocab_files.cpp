#include <algorithm>

#include <tend/nn/text/byte_pair_encoding.h>

#include "tests/fuzz/targets/file_target.h"

// The input is vocab.json, a zero byte, and merges.txt.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tend::test::MemoryFile vocabulary, merges;
  const std::string_view text = tend::test::text_of(data, size);
  const std::size_t end = std::min(text.find('\0'), size);
  vocabulary.write(text.substr(0, end));
  merges.write(text.substr(std::min(end + 1, size)));
  return tend::test::load_fuzzed(size, [&] {
    tend::nn::BytePairEncoding::load(vocabulary.path(), merges.path()).encode("a  text 12");
  });
}
