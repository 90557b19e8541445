#include <tend/nn/text/vocabulary.h>

#include <limits>
#include <utility>

#include <tend/core/base/error.h>

#include "tests/nn/text/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using nn::CharVocabulary;
using nn::WordVocabulary;

namespace {

std::vector<std::string> tokens_of(const nn::Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  for (std::int64_t id = 0; id < vocabulary.vocab_size(); ++id)
    tokens.push_back(vocabulary.token(id));
  return tokens;
}

using Tokens = std::vector<std::string>;

template <class V>
void check_vocabulary_refused(const std::string& content, const std::string& why) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "v.json", content);
  INFO(content);
  CHECK_THROWS_AS(V::load(path), IoError);
  CHECK_THROWS_WITH(V::load(path), ContainsSubstring("::load] " + path) && ContainsSubstring(why));
}

}  // namespace

TEST_CASE("a CharVocabulary has its characters in the order of Unicode") {
  const auto vocabulary = CharVocabulary::from_text(
      "ba\xF0\x9F\x98\x80 \xC3\xA9"
      "a\n");
  CHECK(tokens_of(vocabulary) == Tokens{"\n", " ", "a", "b", "\xC3\xA9", "\xF0\x9F\x98\x80"});
  CHECK(vocabulary.encode("ab \xC3\xA9") == Ids{2, 3, 1, 4});
  CHECK(vocabulary.decode({5, 0, 4}) == "\xF0\x9F\x98\x80\n\xC3\xA9");
  CHECK(vocabulary.encode("").empty());
  CHECK(vocabulary.token_id("a") == 2);
  CHECK(!vocabulary.token_id("z"));
}

TEST_CASE("an error for an unknown or invalid character names its position") {
  const auto vocabulary = CharVocabulary::from_text("abc");
  CHECK_THROWS_WITH(vocabulary.encode("ab\xC3\xA9"),
                    ContainsSubstring("[CharVocabulary::encode] '\xC3\xA9' at byte 2 is not in"));
  CHECK_THROWS_WITH(vocabulary.encode("ab\xFF"),
                    ContainsSubstring("byte 2 of the text is not UTF-8"));
  CHECK_THROWS_AS(CharVocabulary::from_text("\xED\xA0\x80"), Error);
  CHECK_THROWS_AS(WordVocabulary::from_text("a\xFF"), Error);
  CHECK_THROWS_AS(WordVocabulary::from_text("a").encode("\xFF"), Error);
}

// The book is "Build a Large Language Model (From Scratch)".
// Compared with Python: re.split(r'([,.:;?_!"()\']|--|\s)', text) without empty parts, sorted().
TEST_CASE("a WordVocabulary splits as in the book") {
  const auto vocabulary = WordVocabulary::from_text(
      "Hello, world. Is this-- a test?\tIt's (a) \"no_test\"!\xC2\xA0"
      "caf\xC3\xA9\xE3\x80\x80---b a-c");
  CHECK(tokens_of(vocabulary) == Tokens{"!",
                                        "\"",
                                        "'",
                                        "(",
                                        ")",
                                        ",",
                                        "--",
                                        "-b",
                                        ".",
                                        "?",
                                        "Hello",
                                        "Is",
                                        "It",
                                        "_",
                                        "a",
                                        "a-c",
                                        "caf\xC3\xA9",
                                        "no",
                                        "s",
                                        "test",
                                        "this",
                                        "world",
                                        "<|endoftext|>",
                                        "<|unk|>"});
  const Ids ids = vocabulary.encode("Hello, this <|endoftext|> is (a) test -- 'a'!");
  CHECK(ids == Ids{10, 5, 20, 22, 23, 3, 14, 4, 19, 6, 2, 14, 2, 0});
  CHECK(vocabulary.decode(vocabulary.encode("no_test")) == "no _ test");
  CHECK(vocabulary.decode(ids) == "Hello, this <|endoftext|> <|unk|>( a) test --' a'!");
}

TEST_CASE("the special tokens of a WordVocabulary stay last") {
  const auto vocabulary = WordVocabulary::from_text("<|unk|> z <|endoftext|> <a");
  CHECK(tokens_of(vocabulary) == Tokens{"<a", "z", "<|endoftext|>", "<|unk|>"});
}

TEST_CASE("vocabularies are saved and loaded") {
  const TemporaryFolder folder;
  const std::string text = "It's \"quoted\" \\ caf\xC3\xA9 \x01 -- end";
  const auto characters = CharVocabulary::from_text(text);
  characters.save(folder.file("characters.json"));
  CHECK(tokens_of(CharVocabulary::load(folder.file("characters.json"))) == tokens_of(characters));
  const auto words = WordVocabulary::from_text(text);
  words.save(folder.file("words.json"));
  const auto again = WordVocabulary::load(folder.file("words.json"));
  CHECK(again.encode(text + " new") == words.encode(text + " new"));
  CHECK(nlohmann::json::parse(content(folder.file("words.json")))["<|unk|>"] ==
        words.vocab_size() - 1);
}

TEST_CASE("ids that a vocabulary does not have are refused with their position") {
  const auto vocabulary = WordVocabulary::from_text("a b");
  CHECK_THROWS_AS(vocabulary.decode({0, 4}), IndexError);
  CHECK_THROWS_WITH(vocabulary.decode({0, 4}),
                    ContainsSubstring("[WordVocabulary::decode] id 4 at position 1"));
  CHECK_THROWS_AS(CharVocabulary::from_text("a").decode({-1}), IndexError);
  CHECK_THROWS_AS(vocabulary.token(std::numeric_limits<std::int64_t>::max()), IndexError);
}

TEST_CASE("damaged vocabularies are refused with the reason") {
  check_vocabulary_refused<CharVocabulary>(R"({"a":0,"b":2})", "the id of 'b' is 2");
  check_vocabulary_refused<CharVocabulary>(R"({"a":0,"b":0})", "'a' and 'b' have the same id, 0");
  check_vocabulary_refused<CharVocabulary>(R"({"ab":0})", "'ab' is not a single character");
  check_vocabulary_refused<CharVocabulary>(R"({"":0})", "'' is not a single character");
  check_vocabulary_refused<CharVocabulary>(R"({"a":0,"a":1})", "the name 'a' is used twice");
  check_vocabulary_refused<CharVocabulary>(R"({"a":)", "is not JSON");
  check_vocabulary_refused<WordVocabulary>(R"({"a":0})", "has no '<|unk|>'");
  check_vocabulary_refused<WordVocabulary>("[]", "the vocabulary is not an object");
  CHECK_THROWS_AS(WordVocabulary::load("/nowhere/at/all"), IoError);
}
