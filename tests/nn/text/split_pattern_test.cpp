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
  SplitPattern(pattern).split(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
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

TEST_CASE("white space is that of Unicode") {
  // U+0085 and U+3000 are white space, U+180E, U+FEFF and U+001C are not.
  CHECK(pieces_of(R"(\s+)", "a\xC2\x85\xE3\x80\x80z") == Pieces{"a", "\xC2\x85\xE3\x80\x80", "z"});
  CHECK(pieces_of(R"(\s+)", "a\xE1\xA0\x8E\xEF\xBB\xBF\x1Cz").size() == 1);
  CHECK(pieces_of(R"([^\s]+)", "a\xE1\xA0\x8Ez b") == Pieces{"a\xE1\xA0\x8Ez", " ", "b"});
  CHECK(pieces_of(R"(\S+)", "a\xC2\x85z") == Pieces{"a", "\xC2\x85", "z"});
  CHECK(pieces_of(R"(\\s)", R"(a\sb)") == Pieces{"a", R"(\s)", "b"});
}

TEST_CASE("what lies between two matches is a piece, and empty matches are none") {
  CHECK(pieces_of("b+", "aabbabc") == Pieces{"aa", "bb", "a", "b", "c"});
  CHECK(pieces_of("b*", "aabba") == Pieces{"aa", "bb", "a"});
  CHECK(pieces_of("x", "abc") == Pieces{"abc"});
  CHECK(pieces_of("", "abc") == Pieces{"abc"});
}

TEST_CASE("runs of bytes that are no UTF-8 are pieces") {
  CHECK(pieces_of("[a-z]+", "ab\xFF\xC3zz\xF0\x9F\x98") ==
        Pieces{"ab", "\xFF\xC3", "zz", "\xF0\x9F\x98"});
  CHECK(pieces_of("[a-z]+", "\xED\xA0\x80") == Pieces{"\xED\xA0\x80"});
  CHECK(pieces_of(kGpt2Pattern, "a  \xFFz") == Pieces{"a", "  ", "\xFF", "z"});
}

TEST_CASE("a pattern that cannot be compiled is refused with its place") {
  CHECK_THROWS_AS(SplitPattern("a(b"), Error);
  CHECK_THROWS_WITH(SplitPattern("a(b"), ContainsSubstring("[SplitPattern] 'a(b', at byte 3"));
  CHECK_THROWS_AS(SplitPattern("\xFF"), Error);
  CHECK_THROWS_AS(SplitPattern(R"(\C)"), Error);
  CHECK_THROWS_AS(SplitPattern(std::string(100000, '(')), Error);
}

TEST_CASE("a match that takes too many steps is an error") {
  const std::string text = std::string(5000, 'a') + '!';
  CHECK_THROWS_AS(pieces_of("(a+)+$", text), Error);
  CHECK_THROWS_WITH(pieces_of("(a+)+$", text), ContainsSubstring("match limit exceeded"));
}
