// Runs nanogpt as a user does: it learns, and after a kill it resumes bit for bit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/kills.h"
#include "tests/examples/process.h"

#include <tend/nn/training/checkpoint_folder.h>

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

const std::string kNanoGPT = TEND_EXAMPLES "/nanogpt";

// A text in which every letter follows from the one before it.
std::string alphabet() {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

std::vector<std::string> small_nanogpt(std::vector<std::string> more) {
  std::vector<std::string> words{"--text",   "text", "--layers",  "1",   "--heads", "2",
                                 "--width",  "8",    "--context", "8",   "--batch", "4",
                                 "--warmup", "2",    "--rate",    "0.01"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

nlohmann::json nanogpt_results(const TemporaryFolder& folder, const std::string& name) {
  return nlohmann::json::parse(content(folder.file(name)));
}

std::string last_checkpoint(const TemporaryFolder& folder, const std::string& out) {
  return content(tend::nn::CheckpointFolder(folder.file(out)).last().string());
}

}  // namespace

TEST_CASE("nanogpt learns a text, writes a sample and its results") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << alphabet();
  const Ended ended = run_program(
      kNanoGPT, small_nanogpt({"--steps", "200", "--json", "r.json", "--sample", "60"}), folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const nlohmann::json r = nanogpt_results(folder, "r.json");
  CHECK(r.at("losses").size() == 200);
  CHECK(r.at("validation_loss") < 0.1);  // 3.26 if nothing is learnt
  CHECK(r.at("steps") == 200);
  CHECK(r.at("seconds") > 0);
  CHECK(r.at("sample").get<std::string>().size() == 61);
  CHECK(r.at("settings").at("width") == 8);
}

TEST_CASE("nanogpt's steps over two micro-batches equal steps over one batch of their total size") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << alphabet();
  const auto losses = [&](const std::string& batch, const std::string& accumulate) {
    std::vector<std::string> words =
        small_nanogpt({"--steps", "30", "--accumulate", accumulate, "--evaluate-every", "0",
                       "--sample", "0", "--json", "r.json"});
    *(std::find(words.begin(), words.end(), "--batch") + 1) = batch;
    const Ended ended = run_program(kNanoGPT, words, folder);
    CAPTURE(ended.output);
    REQUIRE(ended.code == 0);
    CHECK(nanogpt_results(folder, "r.json").at("settings").at("accumulate") ==
          std::stoi(accumulate));
    return nanogpt_results(folder, "r.json").at("losses").get<std::vector<double>>();
  };
  const std::vector<double> whole = losses("8", "1"), parts = losses("4", "2");
  REQUIRE(parts.size() == 30);
  // Two batches of 4 use the same windows of the text as one batch of 8. float32 sums are rounded
  // in a different order, and 30 steps of training amplify the difference.
  for (std::size_t i = 0; i < parts.size(); ++i) CHECK(std::abs(parts[i] / whole[i] - 1) < 1e-5);
  CHECK(parts != losses("4", "1"));
}

TEST_CASE("nanogpt's first steps have PyTorch's losses for the same seed") {
  // make_nanogpt.py wrote tests/data/nanogpt.json. The script has its own model, weights, batches
  // and schedule.
  const auto torch = nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/nanogpt.json"));
  const TemporaryFolder folder;
  std::ofstream text(folder.file("text"), std::ios::binary);
  std::uint64_t state = 12345;
  for (int i = 0; i < 4000; ++i) {
    state = (1103515245 * state + 12345) % (std::uint64_t{1} << 31);
    text << torch["words"][state / 65536 % torch["words"].size()].get<std::string>();
  }
  text.close();
  // The rate of the first 100 steps, the warm-up, does not depend on the number of steps.
  for (const std::string positions : {"rotary", "learned"}) {
    const std::string steps = positions == "rotary" ? "200" : "101";
    std::vector<std::string> words{"--text", "text",     "--steps", steps,    "--evaluate-every",
                                   "0",      "--sample", "0",       "--json", "r.json"};
    if (positions == "learned") words.emplace_back("--learned-positions");
    const Ended ended = run_program(kNanoGPT, words, folder);
    CAPTURE(ended.output);
    REQUIRE(ended.code == 0);
    const auto losses = nanogpt_results(folder, "r.json").at("losses").get<std::vector<double>>();
    const auto expected = torch[positions].get<std::vector<double>>();
    REQUIRE(losses.size() == std::stoul(steps));
    double worst = 0;
    for (std::size_t i = 0; i < losses.size(); ++i)
      worst = std::max(worst, std::abs(losses[i] - expected[i]) / expected[i]);
    // float32 sums are rounded in a different order, and training amplifies the difference.
    CHECK(worst < 1e-4);
    CAPTURE(worst);
  }
}

TEST_CASE("a nanogpt run that is killed at any moment and resumed equals an uninterrupted run") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << alphabet();
  const auto words = [](const std::string& out) {
    return small_nanogpt({"--steps", "700", "--save-every", "7", "--evaluate-every", "0", "--out",
                          out, "--json", "./" + out + ".json", "--sample", "0", "--dropout", "0.1",
                          "--resume"});
  };
  Kills kills(kNanoGPT, words, folder);
  const std::string expected = last_checkpoint(folder, "whole");
  while (kills.has_more()) {
    const std::string out = kills.run();
    const bool same_file = last_checkpoint(folder, out) == expected;
    CHECK(same_file);
    CHECK(nanogpt_results(folder, out + ".json").at("losses") ==
          nanogpt_results(folder, "whole.json").at("losses"));
    // Only the last checkpoints and the logs are there, and no files of killed processes.
    CHECK(files_in(folder.file(out)) == 3 + 2);
  }
  WARN("nanogpt: " << kills.kills() << " kills survived in " << kills.runs() << " runs");
}

TEST_CASE("nanogpt says what is wrong with its text, its options and its checkpoints") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << alphabet();
  std::ofstream(folder.file("short")) << "ab";
  std::ofstream(folder.file("empty"));
  const auto fails = [&](const std::vector<std::string>& words, int code,
                         const std::string& message) {
    const Ended ended = run_program(kNanoGPT, words, folder);
    CHECK(ended.code == code);
    CHECK_THAT(ended.output, ContainsSubstring(message));
  };
  fails({}, 2, "--text");
  fails({"--text", "nowhere"}, 1, "nowhere cannot be read");
  fails({"--text", "empty"}, 1, "empty cannot be read, or is empty");
  fails({"--text", "short"}, 1, "the text is too short");
  fails({"--text", "text", "--steps", "0"}, 2, "--steps");
  fails({"--text", "text", "--steps", "60"}, 2, "--warmup 100 must be below --steps 60");
  fails(small_nanogpt({"--resume"}), 2, "need the folder of --out");
  fails({"--text", "text", "--heads", "3"}, 2, "--width must be a multiple of --heads");
  fails(small_nanogpt({"--dropout", "2"}), 2, "--dropout must be at most 1");
  fails({"--text", "text", "--context", "1"}, 2, "--context");
  fails(small_nanogpt({"--steps", "3", "--json", "."}), 1, "cannot write .");
  REQUIRE(
      run_program(kNanoGPT, small_nanogpt({"--steps", "3", "--out", "o", "--sample", "0"}), folder)
          .code == 0);
  fails(small_nanogpt({"--steps", "4", "--out", "o"}), 1, "has checkpoints of another run");
  fails(small_nanogpt({"--steps", "4", "--out", "o", "--resume"}), 1,
        "was written with other settings");
  // Uses the same settings with another text.
  const std::string was = alphabet();
  std::ofstream(folder.file("text")) << std::string(was.rbegin(), was.rend());
  fails(small_nanogpt({"--steps", "3", "--out", "o", "--sample", "0", "--resume"}), 1,
        "was written with other settings");
}
