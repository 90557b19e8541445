// The training program as a user runs it.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <tend/nn/safetensors.h>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/process.h"

using Catch::Matchers::ContainsSubstring;
using tend::test::Process;
using tend::test::TemporaryFolder;

namespace {

const std::string kProgram = TEND_EXAMPLES "/train";

/// A model and a task that take well under a millisecond a step, with dropout so that the random
/// numbers matter.
std::vector<std::string> small(std::vector<std::string> more) {
  std::vector<std::string> words{"--length", "4", "--width",   "8",
                                 "--batch",  "4", "--dropout", "0.1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Ended {
  int code;
  std::string output;
};

Ended run(const std::vector<std::string>& arguments, const TemporaryFolder& folder) {
  Process process(kProgram, arguments, folder.path());
  const int code = process.wait();
  return {code, process.output()};
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json results(const TemporaryFolder& folder, const std::string& name = "r.json") {
  return nlohmann::json::parse(content(folder.file(name)));
}

/// Name and bytes of everything in a checkpoint but the times that training took.
std::map<std::string, std::string> state_of(const std::string& path) {
  const tend::nn::Safetensors file = tend::nn::load_safetensors(path);
  std::map<std::string, std::string> state(file.metadata);
  for (const auto& [name, tensor] : file.tensors) {
    const auto* data = static_cast<const char*>(tensor.array().raw());
    state["tensor " + name] = std::string(
        data, static_cast<std::size_t>(tensor.numel() * tend::item_size(tensor.dtype())));
  }
  state.erase("tensor training.seconds");
  return state;
}

}  // namespace

TEST_CASE("a training writes results, a report and a checkpoint") {
  const TemporaryFolder folder;
  const Ended ended = run(small({"--steps", "20", "--seed", "3", "--json", "r.json"}), folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const nlohmann::json r = results(folder);
  CHECK(r.at("task") == "reverse");
  CHECK(r.at("seed") == 3);
  CHECK(r.at("steps") == 20);
  CHECK(r.at("losses").size() == 20);
  CHECK(r.at("losses").at(0) == Approx(2.3).margin(0.3));  // nearly log(10): ten digits to guess
  CHECK(r.at("seconds") > 0);
  CHECK(r.at("tokens_per_second") > 0);
  CHECK(r.at("exact_match") >= 0);
  CHECK(r.at("exact_match") <= 1);
  const nlohmann::json& best = r.at("best_head");
  CHECK(best.at("pattern") == "mirrored diagonal");
  CHECK(best.at("layer") == 1);
  CHECK(best.at("head") == 1);
  CHECK(best.at("mean_weight") > 0);
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("</html>"));
  CHECK(std::filesystem::exists(folder.file("checkpoint.safetensors")));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
}

TEST_CASE("training again, or with another number of threads, gives the same losses") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "10", "--threads", "1", "--json", "a.json"}), folder).code == 0);
  REQUIRE(run(small({"--steps", "10", "--threads", "3", "--json", "b.json"}), folder).code == 0);
  REQUIRE(run(small({"--steps", "10", "--seed", "1", "--json", "c.json"}), folder).code == 0);
  CHECK(results(folder, "a.json").at("losses") == results(folder, "b.json").at("losses"));
  CHECK(results(folder, "a.json").at("losses") != results(folder, "c.json").at("losses"));
}

TEST_CASE("Ctrl-C ends with 130, and what is resumed ends as if it had never come") {
  const TemporaryFolder folder;
  Process process(kProgram, small({"--steps", "2000", "--json", "r.json"}), folder.path());
  REQUIRE(process.wait_for("parameters"));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  process.send(SIGINT);
  CHECK(process.wait() == 130);
  const std::size_t done = results(folder).at("steps");
  CHECK(done < 2000);
  CHECK(results(folder).at("losses").size() == done);
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("of 2\u202F000 steps"));

  const Ended resumed = run({"--resume", "checkpoint.safetensors", "--json", "r.json"}, folder);
  CAPTURE(resumed.output);
  REQUIRE(resumed.code == 0);
  CHECK_THAT(resumed.output, ContainsSubstring("going on from step " + std::to_string(done)));
  REQUIRE(run(small({"--steps", "2000", "--json", "whole.json", "--checkpoint", "whole"}), folder)
              .code == 0);
  const nlohmann::json whole = results(folder, "whole.json");
  CHECK(results(folder).at("losses") == whole.at("losses"));
  CHECK(results(folder).at("exact_match") == whole.at("exact_match"));
  const bool same_state =
      state_of(folder.file("checkpoint.safetensors")) == state_of(folder.file("whole"));
  CHECK(same_state);
}

TEST_CASE("a loss that is no number stops the training with a message") {
  const TemporaryFolder folder;
  const Ended ended = run(small({"--rate", "1e30", "--warmup", "0", "--json", "r.json"}), folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("a lower --rate may help"));
  CHECK_FALSE(std::filesystem::exists(folder.file("r.json")));
}

TEST_CASE("wrong usage is explained and ends with 2") {
  const TemporaryFolder folder;
  const auto [arguments, message] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--task", "juggle"}, "juggle not in"},
      {{"--steps", "many"}, "--steps"},
      {{"--rate", "nan"}, "--rate must be above 0"},
      {{"--init", "wide"}, "expects a number or fan"},
      {{"--width", "10", "--heads", "3"}, "--width 10 must be a multiple of --heads 3"},
      {{"--task", "recall", "--length", "17"}, "from 2 to 16, not 17"},
      {{"--task", "copy", "--text", "x"}, "--task excludes --text"},
      {{"--resume", "x", "--rate", "0.1"}, "is decided by the checkpoint"},
      {{"surprise"}, "surprise"},
  }));
  const Ended ended = run(arguments, folder);
  CHECK(ended.code == 2);
  CHECK_THAT(ended.output, ContainsSubstring(message));
  CHECK_THAT(ended.output, ContainsSubstring("--help"));
}

TEST_CASE("help shows the defaults of the task asked about") {
  const TemporaryFolder folder;
  const Ended ended = run({"--task", "recall", "--help"}, folder);
  CHECK(ended.code == 0);
  // recall's rate; CLI11 2.1 writes "FLOAT=0.0015", later ones "FLOAT [0.0015]".
  CHECK_THAT(ended.output, ContainsSubstring("0.0015"));
}

TEST_CASE("files that cannot be used end the program with 1") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("noise")) << "not a checkpoint";
  std::ofstream(folder.file("short")) << "too short";
  const auto [arguments, message] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--resume", "nowhere"}, "nowhere"},
      {{"--resume", "noise"}, "noise"},
      {{"--text", "nowhere"}, "cannot read nowhere: No such file"},
      {{"--text", "short"}, "a text of 9 bytes is too short"},
      {{"--report", "no/such/folder/r.html"}, "cannot write no/such/folder/r.html"},
  }));
  const Ended ended = run(arguments, folder);
  CAPTURE(ended.output);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring(message));
}

TEST_CASE("a text of any bytes is modelled, and only the same text goes on") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>(i * i % 251 + i % 3);
  std::ofstream(folder.file("text"), std::ios::binary) << text;
  std::ofstream(folder.file("other"), std::ios::binary) << text << '!';
  const Ended ended = run({"--text", "text", "--length", "16", "--layers", "1", "--width", "8",
                           "--steps", "10", "--json", "r.json"},
                          folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const nlohmann::json r = results(folder);
  CHECK(r.at("task") == "text");
  CHECK(r.at("validation_loss") > 0);
  CHECK(r.at("best_head").at("pattern") == "previous token");
  const std::string page = content(folder.file("report.html"));
  CHECK(page.find('\0') == std::string::npos);
  CHECK(run({"--resume", "checkpoint.safetensors", "--steps", "12"}, folder).code == 0);
  const Ended refused = run({"--resume", "checkpoint.safetensors", "--text", "other"}, folder);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, ContainsSubstring("was trained on another text"));
}

TEST_CASE("a checkpoint holds the weights under the model's own names") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1"}), folder).code == 0);
  const tend::nn::Safetensors file =
      tend::nn::load_safetensors(folder.file("checkpoint.safetensors"));
  const auto has = [&file](const std::string& name) {
    return std::any_of(file.tensors.begin(), file.tensors.end(),
                       [&](const auto& entry) { return entry.first == name; });
  };
  CHECK(has("blocks.0.attention.W_query.weight"));
  CHECK(has("head.weight"));
  CHECK(nlohmann::json::parse(file.metadata.at("settings")).at("steps") == 1);
}
