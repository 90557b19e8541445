// Runs generate as a user does, on a folder like those that Hugging Face's library writes.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tend/nn/text/byte_pair_encoding.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/examples/process.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;
using tend::test::content;
using tend::test::Ended;
using tend::test::run_program;
using tend::test::TemporaryFolder;

namespace {

Ended run_generate(const std::vector<std::string>& arguments, const TemporaryFolder& folder) {
  return run_program(TEND_EXAMPLES "/generate", arguments, folder);
}

// A small GPT-2 with random weights, and a tokenizer for it.
void write_model(const TemporaryFolder& folder) {
  const auto tokenizer =
      nn::BytePairEncoding::train("the cat and the dog and the cat", {.vocab_size = 265});
  tokenizer.save(folder.file("vocab.json"), folder.file("merges.txt"));
  const nlohmann::json config{{"model_type", "gpt2"}, {"vocab_size", tokenizer.vocab_size()},
                              {"n_positions", 40},    {"n_embd", 16},
                              {"n_head", 2},          {"n_layer", 1},
                              {"eos_token_id", 264}};
  std::ofstream(folder.file("config.json")) << config;
  manual_seed(1);
  const attention::GPT model(attention::GPT2::config(config.dump()));
  nn::save_safetensors(folder.file("model.safetensors"),
                       attention::GPT2::export_state(model.state_dict(), model.config));
}

}  // namespace

TEST_CASE("generate continues a prompt in the same way for the same seed") {
  const TemporaryFolder folder;
  write_model(folder);
  const std::vector<std::string> common{".", "--prompt", "the cat", "--max-new-tokens", "9"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return run_generate(more, folder);
  };
  const Ended first = run({"--seed", "3", "--json", "a.json"});
  CHECK(first.code == 0);
  CHECK_THAT(first.output, ContainsSubstring("the cat"));
  CHECK_THAT(first.output, ContainsSubstring("tokens/s"));
  const auto json = nlohmann::json::parse(content(folder.file("a.json")));
  const auto tokens = json["tokens"][0].get<std::vector<std::int64_t>>();
  const auto tokenizer =
      nn::BytePairEncoding::load(folder.file("vocab.json"), folder.file("merges.txt"));
  const std::size_t prompt = tokenizer.encode("the cat").size();
  CHECK(json["prompt_tokens"] == prompt);
  CHECK((tokens.size() == prompt + 9 || tokens.back() == 264));

  run({"--seed", "3", "--json", "b.json", "--no-cache"});
  CHECK(nlohmann::json::parse(content(folder.file("b.json")))["tokens"] == json["tokens"]);
  run({"--seed", "4", "--json", "c.json", "--num-samples", "3", "--top-k", "50"});
  const auto samples = nlohmann::json::parse(content(folder.file("c.json")));
  CHECK(samples["texts"].size() == 3);
  CHECK(samples["tokens"][0] != json["tokens"][0]);
  const Ended beams = run({"--num-beams", "3", "--json", "d.json"});
  CHECK(beams.code == 0);
  CHECK_THAT(beams.output, ContainsSubstring("searched for"));
  CHECK(nlohmann::json::parse(content(folder.file("d.json"))).contains("search_seconds"));
}

TEST_CASE("generate reads special tokens in a prompt with --special-tokens") {
  const TemporaryFolder folder;
  write_model(folder);
  const auto count = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {".", "--prompt", "<|endoftext|>the cat", "--max-new-tokens", "1",
                               "--json", "a.json"});
    CHECK(run_generate(more, folder).code == 0);
    return nlohmann::json::parse(content(folder.file("a.json")))["prompt_tokens"].get<int>();
  };
  const int as_text = count({});
  CHECK(as_text - count({"--special-tokens"}) == 12);  // 13 characters become one token
}

TEST_CASE("generate exits with 2 for wrong usage and with 1 for a folder without a model") {
  const TemporaryFolder folder;
  CHECK(run_generate({"--help"}, folder).code == 0);
  CHECK(run_generate({}, folder).code == 2);
  CHECK(run_generate({".", "--prompt", "a", "--top-k", "0"}, folder).code == 2);
  CHECK(run_generate({".", "--prompt", "a", "--threads", "0"}, folder).code == 2);
  const auto expect = [&](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {".", "--prompt", "a"});
    const Ended ended = run_generate(words, folder);
    CAPTURE(ended.output);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.output, ContainsSubstring(message));
  };
  expect({"--num-beams", "2", "--temperature", "1"}, "--temperature must be 0");
  expect({"--num-beams", "2", "--top-k", "3"}, "with --num-beams");
  expect({"--temperature", "0", "--min-p", "0.1"}, "nothing is sampled");
  expect({"--temperature", "0", "--num-samples", "2"}, "the same text each time");
  expect({"--top-p", "2"}, "--top-p must be above 0");
  expect({"--min-p", "-1"}, "--min-p must be from 0 to 1");
  expect({"--repetition-penalty", "0"}, "--repetition-penalty must be above 0");
  const Ended ended = run_generate({".", "--prompt", "a"}, folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("vocab.json"));
  write_model(folder);
  CHECK(run_generate({".", "--prompt", "the", "--max-new-tokens", "3", "--json", "found.json"},
                     folder)
            .code == 0);
}

TEST_CASE("generate works if the model has more tokens than the tokenizer") {
  const TemporaryFolder folder;
  write_model(folder);
  const auto tokenizer = nn::BytePairEncoding::train("the cat and the dog", {.vocab_size = 258});
  tokenizer.save(folder.file("vocab.json"), folder.file("merges.txt"));
  const Ended ended = run_generate({".", "--prompt", "the cat", "--max-new-tokens", "30", "--seed",
                                    "1", "--temperature", "9", "--json", "/dev/stdout"},
                                   folder);
  CHECK(ended.code == 0);
  const std::size_t from = ended.output.find("{\n"), to = ended.output.rfind('}');
  REQUIRE(to != std::string::npos);
  const auto json = nlohmann::json::parse(ended.output.substr(from, to + 1 - from));
  const auto tokens = json["tokens"][0].get<std::vector<std::int64_t>>();
  CHECK(std::ranges::max(tokens) >= tokenizer.vocab_size());
  CHECK_THAT(ended.output.substr(0, from), ContainsSubstring("the cat"));
}
