// Tests the texts with which the training program continues a prompt.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "examples/train/run/sampling.h"
#include "tests/catch.h"
#include "tests/examples/kills.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

std::vector<int> count_draws(const std::vector<float>& logits, const train::Sampling& sampling) {
  train::Random random(1, 2);
  std::vector<int> counts(logits.size());
  for (int i = 0; i < 10000; ++i)
    ++counts.at(static_cast<std::size_t>(train::draw_token(logits, sampling, random)));
  return counts;
}

/// Writes a text of the letters a to e. Returns the arguments for a small model of it, followed by
/// `more`. A step takes well under a millisecond.
std::vector<std::string> text_run(const TemporaryFolder& folder, std::vector<std::string> more) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>('a' + i * i % 7 % 5);
  std::ofstream(folder.file("text")) << text;
  std::vector<std::string> words{"--text",  "text", "--length", "8", "--layers",   "1",
                                 "--width", "8",    "--steps",  "4", "--overwrite"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The text after the prompt in the summary of a run.
std::string continuation(const Ended& ended, const std::string& prompt) {
  INFO(ended.output);
  const std::size_t at = ended.output.find("  " + prompt + "|");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + 2 + prompt.size() + 1;
  return ended.output.substr(begin, ended.output.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("tokens are drawn with the probabilities of softmax") {
  const std::vector<float> logits{0.0F, std::log(2.0F), std::log(5.0F), std::log(2.0F)};
  train::Sampling sampling;
  sampling.temperature = 1;
  const std::vector<int> counts = count_draws(logits, sampling);
  const std::vector<int> expected{1000, 2000, 5000, 2000};
  // The tolerance is five standard deviations: at most 5 sqrt(10000 / 4).
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(counts[i] - expected[i]) < 250);

  sampling.temperature = 0.5;  // squares the weights: 1, 4, 25, 4
  CHECK(std::abs(count_draws(logits, sampling)[2] - 10000 * 25 / 34) < 250);
  sampling.top_k = 2;
  CHECK(std::abs(count_draws(logits, sampling)[2] - 10000 * 25 / 29) < 250);
  CHECK(count_draws(logits, sampling)[1] + count_draws(logits, sampling)[2] == 10000);
  sampling.top_k = 1;
  CHECK(count_draws(logits, sampling)[2] == 10000);
  sampling.top_k = 100;
  sampling.temperature = 0;
  CHECK(count_draws(logits, sampling)[2] == 10000);
  sampling.temperature = std::numeric_limits<double>::denorm_min();
  CHECK(count_draws(logits, sampling)[2] == 10000);
  sampling.temperature = 1e300;
  CHECK(std::abs(count_draws(logits, sampling)[2] - 2500) < 250);
}

TEST_CASE("a prompt has the same continuation for the same seed and any number of threads") {
  const TemporaryFolder folder;
  const auto sample = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--prompt", "abca", "--sample", "50"});
    return continuation(run(text_run(folder, more), folder), "abca");
  };
  const std::string text = sample({});
  CHECK(text.size() == 50);
  CHECK(text.find_first_not_of("abcde") == std::string::npos);
  CHECK(sample({"--threads", "1"}) == text);
  CHECK(sample({"--temperature", "50"}) != text);
  const std::string greedy = sample({"--temperature", "0"});
  CHECK(sample({"--top-k", "1"}) == greedy);
  CHECK(greedy != text);
  REQUIRE(run(text_run(folder, {}), folder).code == 0);
  const Ended resumed = run({"--resume", "checkpoint.safetensors", "--prompt", "abca", "--sample",
                             "50", "--report", "prompt.html"},
                            folder);
  CHECK(continuation(resumed, "abca") == text);
  CHECK_THAT(resumed.output, ContainsSubstring("samples, decoded at temperature 0.8:"));
  CHECK_THAT(content(folder.file("prompt.html")), ContainsSubstring("<pre>abca<b>" + text));
  CHECK(sample({"--seed", "1"}) != text);
}

TEST_CASE("resuming with only a prompt trains nothing and writes nothing") {
  const TemporaryFolder folder;
  REQUIRE(run(text_run(folder, {"--save-every", "1", "--out", "r"}), folder).code == 0);
  const auto written = std::filesystem::last_write_time(folder.file("r/report.html"));
  const std::size_t files = files_in(folder.path());
  const Ended ended = run({"--resume", "r", "--prompt", "abca", "--sample", "50"}, folder);
  CHECK(ended.code == 0);
  CHECK(continuation(ended, "abca").size() == 50);
  CHECK(files_in(folder.path()) == files);
  CHECK(std::filesystem::last_write_time(folder.file("r/report.html")) == written);
}

TEST_CASE("wrong options for samples are refused before anything is written") {
  const TemporaryFolder folder;
  const TemporaryFolder toy;
  REQUIRE(run(small({"--steps", "1"}), toy).code == 0);
  const std::string page = content(toy.file("report.html"));
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--prompt", "a"}, {"--sample", "5"}, {"--temperature", "1"}, {"--top-k", "3"}}) {
    const Ended ended = run(small({option, value}), folder);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.output, ContainsSubstring(option + " is for texts, not for reverse"));
    CHECK(run({"--resume", "checkpoint.safetensors", option, value}, toy).code == 2);
  }
  CHECK(content(toy.file("report.html")) == page);
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const Ended ended = run(text_run(folder, more), folder);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.output, ContainsSubstring(why));
  };
  refused({"--prompt", ""}, "--prompt: the text is empty");
  refused({"--prompt", "abz"}, "the model does not know the byte 0x7a, z");
  refused({"--sample", "0"}, "--sample: '0' is not a whole number from 1 to 1000000");
  refused({"--temperature", "-1"}, "--temperature: '-1' is too small");
  refused({"--top-k", "0"}, "--top-k: '0' is not a whole number");
  CHECK_FALSE(std::filesystem::exists(folder.file("report.html")));
}
