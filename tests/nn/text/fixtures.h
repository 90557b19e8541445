// tests/data/text.json: a test vocabulary, and texts encoded with it (tests/data/make_text.js).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tend/nn/text/byte_pair_encoding.h>

#include "tests/catch.h"
#include "tests/examples/process.h"

#include <nlohmann/json.hpp>

namespace tend::test {

using Ids = std::vector<std::int64_t>;

inline const nlohmann::json& made_text() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/text.json"));
  return data;
}

inline std::string write_text(const TemporaryFolder& folder, const std::string& name,
                              std::string_view content) {
  std::ofstream(folder.file(name), std::ios::binary) << content;
  return folder.file(name);
}

/// The test vocabulary, written as in GPT-2's files.
inline std::string made_vocab() {
  nlohmann::json vocabulary = nlohmann::json::object();
  for (std::size_t id = 0; id < made_text()["tokens"].size(); ++id)
    vocabulary[made_text()["tokens"][id].get<std::string>()] = id;
  return vocabulary.dump();
}
inline std::string made_merges() {
  std::string merges = "#version: 0.2\n";
  for (const auto& merge : made_text()["merges"]) merges += merge.get<std::string>() + '\n';
  return merges;
}
/// The folder that make_text.js wrote.
inline std::string gpt2_folder() {
  const char* folder = std::getenv("TEND_GPT2");
  if (folder == nullptr) throw std::runtime_error("TEND_GPT2 is not set");
  return folder;
}

inline nn::BytePairEncoding load_made() {
  const TemporaryFolder folder;
  return nn::BytePairEncoding::load(write_text(folder, "vocab.json", made_vocab()),
                                    write_text(folder, "merges.txt", made_merges()));
}

/// CHECKs that two tokenizers have the same tokens and return the same ids.
inline void check_same(const nn::BytePairEncoding& a, const nn::BytePairEncoding& b) {
  REQUIRE(a.vocab_size() == b.vocab_size());
  for (std::int64_t id = 0; id < a.vocab_size(); ++id)
    CHECK(a.token_bytes(id) == b.token_bytes(id));
  for (const auto& sample : made_text()["samples"]) {
    const auto text = sample["text"].get<std::string>();
    CHECK(a.encode(text) == b.encode(text));
  }
  const std::string special = "a<|endoftext|>b";
  CHECK(a.encode(special, {.allow_special = true}) == b.encode(special, {.allow_special = true}));
}

}  // namespace tend::test
