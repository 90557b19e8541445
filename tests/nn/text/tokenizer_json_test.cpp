#include <tend/nn/text/tokenizer_json.h>

#include <functional>
#include <map>
#include <random>

#include <tend/core/base/error.h>
#include <tend/nn/text/byte_alphabet.h>

#include "tests/nn/text/fixtures.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
using nn::BytePairEncoding;

namespace {

// A tokenizer.json with the test vocabulary (made_vocab) and the other parts from `form`.
Json tokenizer_json(const Json& form) {
  Json vocabulary = Json::parse(made_vocab());
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", form["added_tokens"]},
          {"normalizer", nullptr},
          {"pre_tokenizer", form["pre_tokenizer"]},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"ignore_merges", form["ignore_merges"]},
            {"vocab", std::move(vocabulary)},
            {"merges", made_text()["merges"]}}}};
}

BytePairEncoding load_text(const std::string& text, bool ignore_normalizer = false) {
  const TemporaryFolder folder;
  return BytePairEncoding::load_tokenizer_json(write_text(folder, "tokenizer.json", text),
                                               {.ignore_normalizer = ignore_normalizer});
}

Json llama() {
  return tokenizer_json(made_text()["tokenizers"][2]);
}

// Checks that a good file is refused for this reason after the change.
void check_refused_change(const std::function<void(Json&)>& change, const std::string& why) {
  Json file = llama();
  change(file);
  INFO(why);
  CHECK_THROWS_AS(load_text(file.dump()), IoError);
  CHECK_THROWS_WITH(load_text(file.dump()), ContainsSubstring(why));
  CHECK_THROWS_WITH(load_text(file.dump()),
                    ContainsSubstring("[BytePairEncoding::load_tokenizer_json] ") &&
                        ContainsSubstring("tokenizer.json: "));
}

void check_form(const BytePairEncoding& tokenizer, const Json& samples, bool is_recovered) {
  for (const auto& sample : samples) {
    const auto text = sample["text"].get<std::string>();
    INFO(text);
    const auto ids = tokenizer.encode(text, {.allow_special = true});
    CHECK(ids == sample["ids"].get<Ids>());
    if (is_recovered) CHECK(tokenizer.decode(ids) == text);
  }
}

}  // namespace

TEST_CASE("every form of tokenizer.json gives the ids of Hugging Face's tokenizers") {
  for (const Json& form : made_text()["tokenizers"]) {
    INFO(form["name"].get<std::string>());
    const BytePairEncoding tokenizer = load_text(tokenizer_json(form).dump());
    check_form(tokenizer, form["samples"], form["name"] != "with a space before");
  }
}

TEST_CASE("a megabyte of texts has the ids of Hugging Face's tokenizers", "[.gpt2]") {
  const std::string folder = gpt2_folder();
  for (std::size_t i = 0; i < made_text()["tokenizers"].size(); ++i) {
    const std::string end = std::to_string(i) + ".json";
    std::string path = folder;
    const auto tokenizer = BytePairEncoding::load_tokenizer_json(path.append("/tokenizer_") += end);
    path = folder;
    check_form(tokenizer, Json::parse(std::ifstream(path.append("/samples_") += end)), i != 1);
  }
}

TEST_CASE("merges may be lists of two tokens") {
  Json file = llama();
  for (Json& merge : file["model"]["merges"]) {
    const auto text = merge.get<std::string>();
    merge = {text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)};
  }
  check_same(load_text(file.dump()), load_text(llama().dump()));
}

TEST_CASE("special added tokens need allow_special but other added tokens do not") {
  const BytePairEncoding tokenizer = load_text(llama().dump());
  const auto size = static_cast<std::int64_t>(made_text()["tokens"].size());
  CHECK(tokenizer.vocab_size() == size + 5);
  CHECK(tokenizer.encode("caf\xC3\xA9") == Ids{size + 4});
  CHECK(tokenizer.encode("<|end|>>").size() > 1);
  CHECK(tokenizer.encode("<|end|>><|end|>", {.allow_special = true}) == Ids{size + 1, size});
  CHECK(tokenizer.token_id("<|end|>") == size);
}

TEST_CASE("other added tokens are found before normalized ones") {
  Json file = llama();
  const auto size = static_cast<std::int64_t>(made_text()["tokens"].size());
  const auto add = [&](std::int64_t id, const char* content, bool is_normalized, bool is_special) {
    file["added_tokens"].push_back({{"id", id},
                                    {"content", content},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", is_normalized},
                                    {"special", is_special}});
  };
  add(size + 5, "<a><", true, false);
  add(size + 6, "<b>", false, true);
  const TemporaryFolder folder;
  load_text(file.dump()).save_tokenizer_json(folder.file("again.json"));
  for (const BytePairEncoding& tokenizer :
       {load_text(file.dump()), BytePairEncoding::load_tokenizer_json(folder.file("again.json"))}) {
    Ids expected = tokenizer.encode("<a>");
    expected.push_back(size + 6);
    CHECK(tokenizer.encode("<a><b>", {.allow_special = true}) == expected);
    CHECK(tokenizer.encode("<a><c", {.allow_special = true})[0] == size + 5);
  }
  file["added_tokens"].back()["normalized"] = "what";
  CHECK_THROWS_AS(load_text(file.dump()), IoError);
}

TEST_CASE("a normalizer is refused unless the caller ignores it") {
  Json file = llama();
  file["normalizer"] = {{"type", "NFC"}};
  CHECK_THROWS_WITH(load_text(file.dump()), ContainsSubstring("normalizer is not supported"));
  check_same(load_text(file.dump(), true), load_text(llama().dump()));
}

TEST_CASE("an unsupported part of a tokenizer.json is accepted if it is turned off") {
  for (const Json& off : {Json(false), Json(0), Json(0.0), Json(""), Json(nullptr)}) {
    Json file = llama();
    file["model"]["byte_fallback"] = off;
    CHECK_NOTHROW(load_text(file.dump()));
  }
}

TEST_CASE("the error for an unsupported part of a tokenizer.json names the part") {
  check_refused_change([](Json& f) { f["model"]["type"] = "WordPiece"; }, "model.type is not BPE");
  check_refused_change([](Json& f) { f["model"]["dropout"] = 0.1; }, "model.dropout is not");
  for (const Json& on : {Json(true), Json(1), Json(0.5), Json("on"), Json::array()}) {
    check_refused_change([&](Json& f) { f["model"]["byte_fallback"] = on; },
                         "model.byte_fallback is not supported");
  }
  check_refused_change([](Json& f) { f["model"]["end_of_word_suffix"] = "</w>"; },
                       "model.end_of_word_suffix is not supported");
  check_refused_change([](Json& f) { f["model"]["news"] = 1; },
                       "model has the member 'news', which is not supported");
  check_refused_change([](Json& f) { f["more"] = 1; }, "the file has the member 'more'");
  check_refused_change([](Json& f) { f["decoder"]["type"] = "Metaspace"; },
                       "decoder.type is not ByteLevel");
  check_refused_change(
      [](Json& f) {
        f["pre_tokenizer"] = {{"type", "Whitespace"}};
      },
      "pre_tokenizer does not end with ByteLevel");
  check_refused_change([](Json& f) { f["pre_tokenizer"] = nullptr; },
                       "pre_tokenizer.type is missing");
  const auto steps = [](Json& f) -> Json& { return f["pre_tokenizer"]["pretokenizers"]; };
  check_refused_change([&](Json& f) { steps(f)[0]["behavior"] = "Contiguous"; },
                       "pre_tokenizer.pretokenizers[0].behavior must be Isolated or Removed, but "
                       "is Contiguous");
  check_refused_change([&](Json& f) { steps(f)[0]["pattern"] = Json::object(); },
                       "pattern.Regex is missing");
  check_refused_change([&](Json& f) { steps(f)[0]["pattern"]["Regex"] = "a("; },
                       "pattern.Regex: [SplitPattern] 'a(': missing");
  check_refused_change([&](Json& f) { steps(f)[0]["type"] = "Punctuation"; },
                       "[0].type must be Split or Digits before ByteLevel, but is Punctuation");
  check_refused_change([&](Json& f) { steps(f)[1]["type"] = "Split"; },
                       "pre_tokenizer does not end with ByteLevel");
  check_refused_change([&](Json& f) { steps(f)[1]["add_prefix_space"] = true; },
                       "add_prefix_space is not supported after a Split");
  check_refused_change([&](Json& f) { steps(f) = Json::array(); }, "does not end with ByteLevel");
  check_refused_change([&](Json& f) { steps(f) = Json::array_t(1000, steps(f)[0]); },
                       "has 1000 steps, above 64");
  for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
    check_refused_change([&](Json& f) { f["added_tokens"][0][flag] = true; },
                         as_text("added_tokens[0].", flag, " is not supported"));
  }
}

namespace {

// 256 bytes, the merges a+b, 1+2 and 12+3, and nothing else.
Json small_tokenizer() {
  Json vocabulary = Json::object();
  for (const unsigned char byte : nn::bytes_in_order())
    vocabulary[nn::printable(std::string(1, static_cast<char>(byte)))] = vocabulary.size();
  for (const char* merged : {"ab", "12", "123"}) vocabulary[merged] = vocabulary.size();
  return {{"version", "1.0"},
          {"added_tokens", Json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"a b", "1 2", "12 3"}}}}};
}

Json byte_level(bool use_regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", use_regex}};
}
Json sequence(const Json& steps) {
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}
Json split(const Json& pattern, const char* behavior = "Isolated", bool invert = false) {
  return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
}

}  // namespace

// The expected ids are from Hugging Face's tokenizers.
TEST_CASE("other models' forms of tokenizer.json give the right ids") {
  const auto ids = [](const Json& file, const char* text) {
    const BytePairEncoding tokenizer = load_text(file.dump());
    const TemporaryFolder folder;
    tokenizer.save_tokenizer_json(folder.file("saved"));
    const Ids found = tokenizer.encode(text, {.allow_special = true});
    CHECK(BytePairEncoding::load_tokenizer_json(folder.file("saved"))
              .encode(text, {.allow_special = true}) == found);
    return found;
  };
  const char* accent =
      "e\xCC\x81"
      "ab";

  Json file = small_tokenizer();
  file["model"].erase("type");
  CHECK(ids(file, "12345") == Ids{258, 19, 20});
  CHECK(ids(file, accent) == Ids{68, 136, 223, 256});

  file = small_tokenizer();
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", Json::array()}};
  file["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "ByteLevel"}}}}};
  CHECK(ids(file, "aab") == Ids{64, 256});

  file = small_tokenizer();
  file["added_tokens"] = {{{"id", 300}, {"content", "<|end|>"}, {"special", true}}};
  CHECK(ids(file, "ab<|end|>") == Ids{256, 259});

  file = small_tokenizer();
  const Json digits{{"type", "Digits"}, {"individual_digits", true}};
  file["pre_tokenizer"] = sequence({sequence(Json::array({digits})), byte_level(true)});
  CHECK(ids(file, "123") == Ids{16, 17, 18});
  CHECK(ids(file, "x\nab") == Ids{87, 198, 256});

  file["pre_tokenizer"] = sequence({split({{"String", "a"}}), byte_level(false)});
  CHECK(ids(file, "ab") == Ids{64, 65});
  CHECK(ids(file, accent) == Ids{68, 136, 223, 64, 65});
  file["pre_tokenizer"] = sequence({split({{"String", "."}}), byte_level(false)});
  CHECK(ids(file, "ab") == Ids{256});

  file["pre_tokenizer"] =
      sequence({split({{"Regex", R"(\d|[^\d]+)"}}, "Removed", true), byte_level(false)});
  CHECK(ids(file, "12ab") == Ids{16, 17, 256});
  file["pre_tokenizer"] = sequence({split({{"Regex", R"(\s)"}}, "Removed"), byte_level(false)});
  CHECK(ids(file, "a b") == Ids{64, 65});

  for (const auto& [pattern, caret_ids] :
       std::map<std::string, Ids>{{R"([\p{L}&&[^x]]+|[\s\S])", {87, 198, 256}},
                                  {R"(^a|[\s\S]b?)", {87, 198, 64, 65}},
                                  {R"(a{,2}b|[\s\S])", {87, 198, 256}},
                                  {" ?[^(\\s|[.,!?\xE2\x80\xA6])]+", {87, 198, 256}}}) {
    INFO(pattern);
    file["pre_tokenizer"] = sequence({split({{"Regex", pattern}}), byte_level(false)});
    CHECK(ids(file, "x\nab") == caret_ids);
  }
}

TEST_CASE("encode skips bytes without a token but a file that also has an unk_token is refused") {
  Json file = small_tokenizer();
  Json vocabulary = Json::object();
  for (const auto& [token, id] : file["model"]["vocab"].items())
    if (token != "!") vocabulary[token] = id.get<int>() - 1;
  file["model"]["vocab"] = vocabulary;
  const BytePairEncoding tokenizer = load_text(file.dump());
  CHECK(tokenizer.encode("x\nab") == Ids{86, 197, 255});
  CHECK(tokenizer.encode("!") == Ids{});
  CHECK(tokenizer.encode("a!!") == Ids{63});
  CHECK(tokenizer.encode(std::string(200, '!') + '!') == Ids{});
  file["model"]["unk_token"] = "a";
  CHECK_THROWS_WITH(
      load_text(file.dump()),
      ContainsSubstring("model.unk_token is not supported, because a byte has no token"));
}

TEST_CASE("a tokenizer.json that contradicts itself is refused") {
  check_refused_change([](Json& f) { f["model"].erase("vocab"); }, "model.vocab is missing");
  check_refused_change([](Json& f) { f["model"]["vocab"] = Json::array(); },
                       "the vocabulary is not an object");
  check_refused_change([](Json& f) { f.erase("model"); }, "model is missing");
  check_refused_change([](Json& f) { f["model"]["merges"] = 3; }, "model.merges is not an array");
  check_refused_change([](Json& f) { f["model"]["merges"][0] = 3; },
                       "model.merges[0] is not a string");
  check_refused_change(
      [](Json& f) {
        f["model"]["merges"][0] = {"a", "b", "c"};
      },
      "model.merges[0] must have 2 parts, but has 3");
  check_refused_change([](Json& f) { f["model"]["merges"][0] = "a"; },
                       "model.merges[0], 'a', is not two tokens");
  check_refused_change([](Json& f) { f["model"]["merges"][0] = "unknown a"; },
                       "merge 1: 'unknown' is not in the vocabulary");
  check_refused_change([](Json& f) { f["added_tokens"][0]["id"] = 1.5; }, "id is not an integer");
  check_refused_change([](Json& f) { f["added_tokens"][0]["content"] = ""; }, "content is empty");
  check_refused_change([](Json& f) { f["added_tokens"][1] = f["added_tokens"][0]; },
                       "added_tokens[1].content, '<|end|>', is there twice");
  check_refused_change([](Json& f) { f["added_tokens"][0]["content"] = "!"; },
                       "but '!' has the id 0");
  CHECK_THROWS_WITH(load_text("[]"), ContainsSubstring("the file is not an object"));
  CHECK_THROWS_WITH(load_text("{\"version\":"), ContainsSubstring("is not JSON"));
}

// A file that was cut or changed anywhere must be read or refused.
TEST_CASE("a damaged tokenizer file is either refused or gives a working tokenizer") {
  Json small = llama();
  small["model"]["merges"] = Json::array({"a b"});
  small["model"]["vocab"] = Json::object();
  for (int id = 0; id < 256; ++id)
    small["model"]["vocab"]
         [made_text()["tokens"][static_cast<std::size_t>(id)].get<std::string>()] = id;
  small["model"]["vocab"]["ab"] = 256;
  for (std::size_t i = 0; i < small["added_tokens"].size(); ++i)
    small["added_tokens"][i]["id"] = 257 + i;
  const std::string good = small.dump();
  CHECK(load_text(good).vocab_size() == 262);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string bad = good;
    if (i % 3 == 0) {
      bad.resize(random() % good.size());
    } else if (i % 3 == 1) {
      bad[random() % bad.size()] = static_cast<char>(random() & 0xFF);
    } else {
      bad.erase(random() % bad.size(), 1 + random() % 20);
    }
    try {
      const BytePairEncoding tokenizer = load_text(bad);
      tokenizer.decode(tokenizer.encode("ab the\xFF"));
    } catch (const IoError&) {
      ++refused;
    }
  }
  CHECK(refused > 1200);
}

TEST_CASE("saving and loading a tokenizer.json gives the same tokenizer") {
  for (const Json& form : made_text()["tokenizers"]) {
    INFO(form["name"].get<std::string>());
    const BytePairEncoding tokenizer = load_text(tokenizer_json(form).dump());
    const TemporaryFolder folder;
    tokenizer.save_tokenizer_json(folder.file("again.json"));
    const auto again = BytePairEncoding::load_tokenizer_json(folder.file("again.json"));
    check_same(tokenizer, again);
    check_form(again, form["samples"], false);
    if (form["name"] == "GPT-2") {
      tokenizer.save(folder.file("vocab.json"), folder.file("merges.txt"));
      check_same(tokenizer,
                 BytePairEncoding::load(folder.file("vocab.json"), folder.file("merges.txt")));
    } else {
      CHECK_THROWS_WITH(tokenizer.save(folder.file("vocab.json"), folder.file("merges.txt")),
                        ContainsSubstring("can only express GPT-2's pattern"));
      CHECK(!std::filesystem::exists(folder.file("vocab.json")));
    }
  }
}
