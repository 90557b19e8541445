#include <tend/nn/text/split_pattern.h>

#include <string>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/text/tokenizer_parts.h>

#include "tests/catch.h"

using Catch::Matchers::ContainsSubstring;
using tend::Error;
using tend::nn::kGpt2Pattern;
using tend::nn::SplitPattern;

namespace {

using Pieces = std::vector<std::string>;

Pieces pieces_of(std::string_view pattern, std::string_view text) {
  Pieces pieces;
  SplitPattern(pattern).split(text,
                              [&](std::string_view piece, bool) { pieces.emplace_back(piece); });
  return pieces;
}

}  // namespace

TEST_CASE("GPT-2 splits words, numbers, signs and spaces") {
  CHECK(pieces_of(kGpt2Pattern, "It's 3 cats,  isn't\n\n it? ") ==
        Pieces{"It", "'s", " 3", " cats", ",", " ", " isn", "'t", "\n\n", " it", "?", " "});
  CHECK(pieces_of(kGpt2Pattern,
                  "caf\xC3\xA9 \xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82 \xF0\x9F\x98\x80") ==
        Pieces{"caf\xC3\xA9", " \xE4\xBD\xA0\xE5\xA5\xBD", "\xE3\x80\x82", " \xF0\x9F\x98\x80"});
  CHECK(pieces_of(kGpt2Pattern, "").empty());
}

TEST_CASE("white space is Unicode's") {
  // U+0085 and U+3000 are white space, U+180E, U+FEFF and U+001C are not.
  CHECK(pieces_of(R"(\s+)", "a\xC2\x85\xE3\x80\x80z") == Pieces{"a", "\xC2\x85\xE3\x80\x80", "z"});
  CHECK(pieces_of(R"(\s+)", "a\xE1\xA0\x8E\xEF\xBB\xBF\x1Cz").size() == 1);
  CHECK(pieces_of(R"([^\s]+)", "a\xE1\xA0\x8Ez b") == Pieces{"a\xE1\xA0\x8Ez", " ", "b"});
  CHECK(pieces_of(R"(\S+)", "a\xC2\x85z") == Pieces{"a", "\xC2\x85", "z"});
  CHECK(pieces_of(R"(\\s)", R"(a\sb)") == Pieces{"a", R"(\s)", "b"});
}

TEST_CASE("text between two matches is a piece and an empty match is not") {
  CHECK(pieces_of("b+", "aabbabc") == Pieces{"aa", "bb", "a", "b", "c"});
  CHECK(pieces_of("b*", "aabba") == Pieces{"aa", "bb", "a"});
  CHECK(pieces_of("x", "abc") == Pieces{"abc"});
  CHECK(pieces_of("", "abc") == Pieces{"abc"});
}

TEST_CASE("each run of bytes that are not UTF-8 is a piece") {
  CHECK(pieces_of("[a-z]+", "ab\xFF\xC3zz\xF0\x9F\x98") ==
        Pieces{"ab", "\xFF\xC3", "zz", "\xF0\x9F\x98"});
  CHECK(pieces_of("[a-z]+", "\xED\xA0\x80") == Pieces{"\xED\xA0\x80"});
  CHECK(pieces_of(kGpt2Pattern, "a  \xFFz") == Pieces{"a", "  ", "\xFF", "z"});
}

TEST_CASE("a pattern that cannot be compiled is refused") {
  CHECK_THROWS_AS(SplitPattern("a(b"), Error);
  CHECK_THROWS_WITH(SplitPattern("a(b"),
                    ContainsSubstring("[SplitPattern] 'a(b': missing closing"));
  CHECK_THROWS_AS(SplitPattern("\xFF"), Error);
  CHECK_THROWS_AS(SplitPattern(R"(\C)"), Error);
  CHECK_THROWS_AS(SplitPattern(std::string(100000, '(')), Error);
}

TEST_CASE("patterns match as in Oniguruma") {
  // The expected pieces are from Oniguruma 6.9.8.
  CHECK(pieces_of(R"([\p{L}&&[^x]]+)", "abxcd") == Pieces{"ab", "x", "cd"});
  CHECK(pieces_of(R"([^a[bc]]+)", "abcdef") == Pieces{"abc", "def"});
  CHECK(pieces_of(R"([a[^b]]+)", "abba") == Pieces{"a", "bb", "a"});
  CHECK(pieces_of(R"( ?[^(\s|[.,!?])]+)", "Hi, a|b") == Pieces{"Hi", ",", " a", "|", "b"});
  CHECK(pieces_of("^a", "a\naa") == Pieces{"a", "\n", "a", "a"});
  CHECK(pieces_of("a$", "aa\naa") == Pieces{"a", "a", "\na", "a"});
  CHECK(pieces_of(R"(\h+)", "x1fg") == Pieces{"x", "1f", "g"});
  CHECK(pieces_of(R"(\H)", "1xf") == Pieces{"1", "x", "f"});
  CHECK(pieces_of("a{,2}b", "aaab") == Pieces{"a", "aab"});
  CHECK(pieces_of("a{x}", "a{x}") == Pieces{"a{x}"});
  const std::string accent = "e\xCC\x81";  // with U+0301
  CHECK(pieces_of(R"(\w+)", accent + "!") == Pieces{accent, "!"});
  CHECK(pieces_of(R"(\W+)", accent + "!") == Pieces{accent, "!"});
  CHECK(pieces_of(R"([[:alpha:]]+)", "\xE2\x85\xA3-a") == Pieces{"\xE2\x85\xA3", "-", "a"});  // IV
  CHECK(pieces_of(R"([[:^alpha:]]+)", "a-1b") == Pieces{"a", "-1", "b"});
  CHECK(pieces_of(R"([[:punct:]]+)", "a$-") == Pieces{"a$", "-"});
  CHECK(pieces_of(R"(\b.)", accent + "a b") == Pieces{"e",
                                                      "\xCC\x81"
                                                      "a",
                                                      " ", "b"});
  CHECK(pieces_of(R"(\p{Han}+)", "\xE4\xB8\x80\xE3\x80\x82") ==
        Pieces{"\xE4\xB8\x80", "\xE3\x80\x82"});
  CHECK(pieces_of("(?m:a.b)", "a\nb") == Pieces{"a\nb"});
  CHECK(pieces_of("(?i:'S)|b", "a'sb") == Pieces{"a", "'s", "b"});
}

TEST_CASE("the error for a construct that would match differently than in Oniguruma names it") {
  const auto refusal = [](std::string_view pattern, const std::string& construct) {
    CHECK_THROWS_WITH(SplitPattern(pattern),
                      ContainsSubstring("has " + construct + ", which is not supported"));
  };
  refusal(R"(\p{N}{1,3}+)", "{1,3}+");
  refusal("a{2}?", "{2}?");
  refusal("(?~ab)", "(?~");
  refusal("a(?i)b|c", "(?i)");
  refusal("(?x: a)", "(?x");
  refusal(R"(\X)", R"(\X)");
  refusal(R"(\Ga)", R"(\G)");
  refusal("[[:nothing:]]", "[:nothing:]");
  CHECK_THROWS_AS(SplitPattern("[a"), Error);
  CHECK_THROWS_AS(SplitPattern("[a[b]"), Error);
  refusal(std::string(100000, '['), "brackets in brackets");
  std::string many = "[a";
  for (int i = 0; i < 100000; ++i) many += "&&a";
  refusal(many + ']', "&&");
  CHECK_THROWS_AS(SplitPattern("\\"), Error);
}

TEST_CASE("a match that takes too many steps is an error") {
  const std::string text = std::string(5000, 'a') + '!';
  CHECK_THROWS_AS(pieces_of("(a+)+$", text), Error);
  CHECK_THROWS_WITH(pieces_of("(a+)+$", text), ContainsSubstring("match limit exceeded"));
}
