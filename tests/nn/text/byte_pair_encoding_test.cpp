#include <tend/nn/text/byte_pair_encoding.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include <tend/nn/text/vocabulary.h>
#include <tend/tend.h>

#include "tests/nn/text/fixtures.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using nn::BytePairEncoding;

namespace {

std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xFF);
  return bytes;
}

Ids joined(std::initializer_list<Ids> parts) {
  Ids all;
  for (const Ids& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void check_samples(const BytePairEncoding& tokenizer, const nlohmann::json& samples) {
  std::size_t bytes = 0;
  for (const auto& sample : samples) {
    const auto text = sample["text"].get<std::string>();
    const Ids ids = tokenizer.encode(text);
    INFO(text);
    CHECK(ids == sample["ids"].get<Ids>());
    CHECK(tokenizer.decode(ids) == text);
    bytes += text.size();
  }
  CHECK(bytes > 5000);
}

}  // namespace

TEST_CASE("texts have the same ids as in another encoder") {
  check_samples(load_made(), made_text()["samples"]);
}

// tests/data/make_text.js writes the folder.
TEST_CASE("a megabyte of texts has the ids of GPT-2", "[.gpt2]") {
  const std::string folder = gpt2_folder();
  const auto tokenizer = BytePairEncoding::load(folder + "/vocab.json", folder + "/merges.txt");
  CHECK(tokenizer.vocab_size() == 50257);
  CHECK(tokenizer.encode("Hello world") == Ids{15496, 995});
  CHECK(tokenizer.encode("<|endoftext|>", {.allow_special = true}) == Ids{50256});
  const auto samples = nlohmann::json::parse(std::ifstream(folder + "/samples.json"));
  check_samples(tokenizer, samples);
  const std::string bytes = random_bytes(1 << 20, 1);
  CHECK(tokenizer.decode(tokenizer.encode(bytes)) == bytes);
}

TEST_CASE("decoding returns any encoded bytes") {
  const BytePairEncoding tokenizer = load_made();
  for (const std::string_view text :
       {std::string_view(), std::string_view("\0", 1), std::string_view("\xFF"),
        std::string_view("caf\xC3"), std::string_view("\xC3\xA9 \xE2\x82 \xF0\x9F\x98 the"),
        std::string_view("\xED\xA0\x80 a surrogate, \xC0\x80 an overlong form"),
        std::string_view("\xF4\x90\x80\x80 \x80\x80\x80")}) {
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string bytes = random_bytes(5000, seed);
    CHECK(tokenizer.decode(tokenizer.encode(bytes)) == bytes);
  }
  CHECK(tokenizer.encode("").empty());
}

TEST_CASE("text next to invalid UTF-8 has the same ids as by itself") {
  const BytePairEncoding tokenizer = load_made();
  CHECK(tokenizer.encode("the word\xFF\xFE and so on") ==
        joined({tokenizer.encode("the word"), tokenizer.encode("\xFF"), tokenizer.encode("\xFE"),
                tokenizer.encode(" and so on")}));
}

TEST_CASE("special tokens in a text are ordinary text unless they are allowed") {
  const BytePairEncoding tokenizer = load_made();
  const auto end = tokenizer.token_id("<|endoftext|>");
  REQUIRE(end);
  const std::string text = "one<|endoftext|><|endoftext|> two<|endof";
  const Ids as_text = tokenizer.encode(text);
  CHECK(std::count(as_text.begin(), as_text.end(), *end) == 0);
  CHECK(tokenizer.decode(as_text) == text);
  const Ids as_tokens = tokenizer.encode(text, {.allow_special = true});
  CHECK(as_tokens ==
        joined({tokenizer.encode("one"), {*end, *end}, tokenizer.encode(" two<|endof")}));
  CHECK(tokenizer.decode(as_tokens) == text);
}

TEST_CASE("a token has an id and bytes") {
  const BytePairEncoding tokenizer = load_made();
  for (std::int64_t id = 0; id < tokenizer.vocab_size(); ++id)
    CHECK(tokenizer.token_id(tokenizer.token_bytes(id)) == id);
  CHECK(tokenizer.token_id(" the"));
  CHECK(!tokenizer.token_id("no such token"));
  CHECK(!tokenizer.token_id(""));
}

TEST_CASE("ids that are not in the vocabulary are refused with their position") {
  const BytePairEncoding tokenizer = load_made();
  const std::int64_t size = tokenizer.vocab_size();
  CHECK_THROWS_AS(tokenizer.decode({0, 1, size}), IndexError);
  CHECK_THROWS_WITH(tokenizer.decode({0, 1, size}),
                    ContainsSubstring("[BytePairEncoding::decode] id 601 at position 2"));
  CHECK_THROWS_AS(tokenizer.decode({-1}), IndexError);
  CHECK_THROWS_AS(tokenizer.token_bytes(size), IndexError);
  CHECK_THROWS_AS(tokenizer.token_bytes(std::numeric_limits<std::int64_t>::min()), IndexError);
}

TEST_CASE("build_info names the libraries of the tokenizers") {
  CHECK_THAT(build_info().text, ContainsSubstring("PCRE2 10."));
}

// In quadratic time such a piece would take hours.
TEST_CASE("a piece of a million letters is encoded quickly") {
  const BytePairEncoding tokenizer = load_made();
  std::string text;
  while (text.size() < 1'000'000) text += "thetransformerattention";
  CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  for (const char letter : {'a', ' ', '\n', '!', '7', '\xFF'}) {
    const std::string same(1'000'000, letter);
    CHECK(tokenizer.decode(tokenizer.encode(same)) == same);
  }
}

TEST_CASE("several threads encode and decode with one tokenizer and one vocabulary of each kind") {
  const std::string text = made_text()["corpus"].get<std::string>();
  const BytePairEncoding pairs = load_made();
  const auto characters = nn::CharVocabulary::from_text(text);
  const auto words = nn::WordVocabulary::from_text(text);
  const auto check = [&](const auto& tokenizer) {
    const Ids expected = tokenizer.encode(text);
    const std::string decoded = tokenizer.decode(expected);
    together(4, [&](int) {
      for (int i = 0; i < 5; ++i) {
        if (tokenizer.encode(text) != expected) throw std::runtime_error("other numbers");
        if (tokenizer.decode(expected) != decoded) throw std::runtime_error("another text");
      }
    });
  };
  check(pairs);
  check(characters);
  check(words);
}
