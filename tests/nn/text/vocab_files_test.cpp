#include <tend/nn/text/byte_pair_encoding.h>

#include <tend/core/base/error.h>

#include "tests/nn/text/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using nn::BytePairEncoding;

namespace {

BytePairEncoding load_files(const std::string& vocab, const std::string& merges,
                            const std::vector<std::string>& special_tokens = {}) {
  const TemporaryFolder folder;
  return BytePairEncoding::load(write_text(folder, "vocab.json", vocab),
                                write_text(folder, "merges.txt", merges), special_tokens);
}

void check_files_refused(const std::string& vocab, const std::string& merges,
                         const std::string& why) {
  INFO(why);
  CHECK_THROWS_AS(load_files(vocab, merges), IoError);
  CHECK_THROWS_WITH(load_files(vocab, merges),
                    ContainsSubstring(why) && ContainsSubstring("[BytePairEncoding::load] "));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

}  // namespace

TEST_CASE("a damaged vocab.json is refused with the reason") {
  const std::string good = made_vocab(), merges = made_merges();
  CHECK_NOTHROW(load_files(good, merges));
  const auto check = [&](const std::string& from, const std::string& to, const std::string& why) {
    check_files_refused(replaced(good, from, to), merges, why);
  };
  check(R"("!":0)", R"("!":1)", "have the same id, 1");
  check(R"("!":0)", R"("!":-1)", "the id of '!' is -1, not one of 0 to 600");
  check(R"("!":0)", R"("!":601)", "the id of '!' is 601");
  check(R"("!":0)", R"("!":18446744073709551615)", "the id of '!' is not an integer");
  check(R"("!":0)", R"("!":0.0)", "the id of '!' is not an integer");
  check(R"("!":0)", R"("!":"0")", "the id of '!' is not an integer");
  check(R"("!":0)", R"("!":[])", "the id of '!' is not an integer");
  check(R"("!":0)", R"("!":0,"!":0)", "the name '!' is used twice");
  check(R"("!":0)", R"("! ":0)", "is not written in the characters of a byte-level vocabulary");
  check(R"("!":0)", R"("":0)", "is not written in the characters of a byte-level vocabulary");
  check(R"("!":0)", R"("\ud800":0)", "is not JSON");
  check(R"("!":0)", "\"\xFF\":0", "is not JSON");
  check_files_refused("", merges, "is not JSON");
  check_files_refused(good.substr(0, good.size() - 1), merges, "is not JSON");
  check_files_refused(good + "}", merges, "is not JSON");
  check_files_refused("{}", merges, "is not in the vocabulary");
  check_files_refused("[1]", merges, "the vocabulary is not an object");
  check_files_refused("null", merges, "the vocabulary is not an object");
  for (const char* open : {"[", R"({"a":)"}) {
    std::string deep;
    for (int i = 0; i < 1'000'000; ++i) deep += open;
    check_files_refused(deep, merges, "nest deeper than 64");
  }
}

TEST_CASE("a damaged merges.txt is refused with the line") {
  const std::string good = made_vocab();
  const std::string first = "#version: 0.2\n";
  check_files_refused(good, first + "z q\n", "merge 1: 'zq' is not in the vocabulary");
  check_files_refused(good, first + "h e\nh unknown\n", "merge 2: 'unknown' is not");
  check_files_refused(good, first + "h e\nhe\n", "line 3, 'he', is not two tokens");
  check_files_refused(good, first + "h e r\n", "line 2, 'h e r', is not two tokens");
  check_files_refused(good, first + "h  e\n", "is not two tokens");
  check_files_refused(good, "h e\n" + first, "merge 2: '#version:' is not");
  check_files_refused(good, std::string("h e\0\n", 5), "merge 1: 'e");
  CHECK_NOTHROW(load_files(good, ""));
  CHECK_NOTHROW(load_files(good, "h e"));
  CHECK_NOTHROW(load_files(good, first + "\nh e\n\n"));  // empty lines
  CHECK_THROWS_AS(BytePairEncoding::load("/nowhere", "/nowhere"), IoError);
}

TEST_CASE("a special token must be in the vocabulary but the end of text need not") {
  const std::string good = made_vocab(), merges = made_merges();
  CHECK_THROWS_WITH(load_files(good, merges, {"<|pad|>"}),
                    ContainsSubstring("has no special token '<|pad|>'"));
  CHECK_THROWS_AS(load_files(good, merges, {""}), IoError);
  const std::string other = replaced(good, "<|endoftext|>", "<|a pad|>");
  const BytePairEncoding tokenizer = load_files(other, merges, {"<|a pad|>", "<|a pad|>"});
  CHECK(tokenizer.encode("<|a pad|>", {.allow_special = true}) == Ids{600});
  CHECK(tokenizer.decode({600}) == "<|a pad|>");
}
