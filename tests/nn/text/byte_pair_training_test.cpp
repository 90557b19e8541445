#include <tend/nn/text/byte_pair_training.h>

#include <tend/core/base/error.h>

#include "tests/nn/text/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using nn::BytePairEncoding;
using nn::BytePairTraining;

TEST_CASE("training finds the same merges as a full recount for each merge") {
  const auto corpus = made_text()["corpus"].get<std::string>();
  const auto tokenizer = BytePairEncoding::train(corpus, {.vocab_size = 601});
  const TemporaryFolder folder;
  tokenizer.save(folder.file("vocab.json"), folder.file("merges.txt"));
  CHECK(content(folder.file("merges.txt")) == made_merges());
  CHECK(nlohmann::json::parse(content(folder.file("vocab.json"))) ==
        nlohmann::json::parse(made_vocab()));
  check_same(tokenizer, load_made());
}

TEST_CASE("training ends if the vocabulary is full or all pairs are rare") {
  const auto size = [](std::string_view text, const BytePairTraining& options) {
    return BytePairEncoding::train(text, options).vocab_size();
  };
  CHECK(size("", {}) == 257);
  CHECK(size("ab ab", {.vocab_size = 1000}) == 258);  // "ab"
  CHECK(size("ab ab", {.vocab_size = 257}) == 257);
  CHECK(size("ab ab", {.vocab_size = 1000, .min_frequency = 1}) == 259);  // " ab" too
  CHECK(size("ab ab", {.vocab_size = 1000, .min_frequency = 3}) == 257);
  CHECK(size("ab ab", {.vocab_size = 1000, .special_tokens = {}}) == 257);
}

TEST_CASE("equally frequent pairs are merged in the order of their ids") {
  const auto tokenizer =
      BytePairEncoding::train("cd cd ab ab", {.vocab_size = 258, .special_tokens = {"<s>"}});
  CHECK(tokenizer.token_bytes(256) == "ab");
  CHECK(tokenizer.token_bytes(257) == "<s>");
}

TEST_CASE("training ignores special tokens in the text") {
  const auto tokenizer = BytePairEncoding::train("<s><s><s><s>ab<s>ab",
                                                 {.vocab_size = 300, .special_tokens = {"<s>"}});
  CHECK(tokenizer.vocab_size() == 258);
  CHECK(tokenizer.token_bytes(256) == "ab");
  CHECK(tokenizer.encode("<s>ab", {.allow_special = true}) == Ids{257, 256});
}

TEST_CASE("training accepts invalid UTF-8") {
  const auto tokenizer = BytePairEncoding::train("\xFF\xFE \xFF\xFE", {.vocab_size = 258});
  CHECK(tokenizer.token_bytes(256) == "\xFF\xFE");
  const TemporaryFolder folder;
  tokenizer.save_tokenizer_json(folder.file("tokenizer.json"));
  check_same(tokenizer, BytePairEncoding::load_tokenizer_json(folder.file("tokenizer.json")));
}

TEST_CASE("training refuses invalid options") {
  const auto check = [](const BytePairTraining& options, const std::string& why) {
    CHECK_THROWS_AS(BytePairEncoding::train("ab ab", options), Error);
    CHECK_THROWS_WITH(BytePairEncoding::train("ab ab", options),
                      ContainsSubstring("[BytePairEncoding::train] ") && ContainsSubstring(why));
  };
  check({.vocab_size = 256}, "vocab_size must be from 257");
  check({.vocab_size = -1}, "got -1");
  check({.vocab_size = std::int64_t{1} << 31}, "to 2^31 - 1");
  check({.min_frequency = 0}, "min_frequency must be at least 1, got 0");
  check({.special_tokens = {""}}, "a special token is empty");
  check({.special_tokens = {"\xFF"}}, "a special token is not UTF-8");
  check({.special_tokens = {"<s>", "<s>"}}, "the special token '<s>' is there twice");
  check({.special_tokens = {"a"}}, "the special token 'a' is also an ordinary token");
}

TEST_CASE("a special token of one byte does not encode that byte in ordinary text") {
  const BytePairEncoding tokenizer =
      BytePairEncoding::train("a\n\nb a\n\nb", {.vocab_size = 260, .special_tokens = {"\n"}});
  const auto special = tokenizer.token_id("\n");
  REQUIRE(special);
  const auto ids = tokenizer.encode("b\n\n");  // the two newlines are one piece
  CHECK(std::count(ids.begin(), ids.end(), *special) == 0);
  CHECK(tokenizer.decode(ids) == "b\n\n");
  const auto allowed = tokenizer.encode("a\nb", {.allow_special = true});
  CHECK(std::count(allowed.begin(), allowed.end(), *special) == 1);
}

TEST_CASE("a special token that is also a merge of other bytes is refused") {
  const auto tokenizer =
      BytePairEncoding::train("on the on the on the", {.vocab_size = 300, .special_tokens = {}});
  REQUIRE(tokenizer.decode(tokenizer.encode(" the")) == " the");
  const TemporaryFolder folder;
  const std::string vocab = folder.file("vocab.json"), merges = folder.file("merges.txt");
  tokenizer.save(vocab, merges);
  CHECK_THROWS_WITH(BytePairEncoding::load(vocab, merges, {"\u0120the"}),
                    ContainsSubstring("are not the bytes of its two parts"));
  CHECK(BytePairEncoding::load(vocab, merges, {"he"}).decode(tokenizer.encode(" the")) == " the");
}
