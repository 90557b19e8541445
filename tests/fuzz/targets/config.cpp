#include <tend/attention/pretrained/gpt2.h>
#include <tend/attention/pretrained/llama.h>

#include "tests/fuzz/targets/file_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tend::test::text_of(data, size);
  tend::test::load_fuzzed(size, [&] { tend::attention::GPT2::config(text); });
  return tend::test::load_fuzzed(size, [&] { tend::attention::Llama::config(text); });
}
