// The training program as a user runs it.

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <tend/nn/files/safetensors.h>

#include <nlohmann/json.hpp>

#include "examples/train/run/checkpoint.h"
#include "examples/train/run/options_json.h"
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

/// Name and bytes of everything in a checkpoint but the times that training took, and the checksum,
/// which is also of them.
std::map<std::string, std::string> state_of(const std::string& path) {
  const tend::nn::Safetensors file = tend::nn::load_safetensors(path);
  std::map<std::string, std::string> state(file.metadata);
  for (const auto& [name, tensor] : file.tensors) {
    const auto* data = static_cast<const char*>(tensor.array().raw());
    state["tensor " + name] = std::string(
        data, static_cast<std::size_t>(tensor.numel() * tend::item_size(tensor.dtype())));
  }
  state.erase("tensor training.seconds");
  state.erase("checksum");
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

  const std::string before = content(folder.file("checkpoint.safetensors"));
  const Ended backwards = run({"--resume", "checkpoint.safetensors", "--steps", "10"}, folder);
  CHECK(backwards.code == 2);
  CHECK_THAT(backwards.output, ContainsSubstring("at step 2000, beyond --steps 10"));
  CHECK(content(folder.file("checkpoint.safetensors")) == before);
}

TEST_CASE("none stands for a file that is not written") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1", "--json", "none", "--report", "none", "--checkpoint", "none"}),
              folder)
              .code == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
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
      {{"--rate", "nan"}, "--rate: 'nan' is no finite number"},
      {{"--rate", "0"}, "--rate must be above 0"},
      {{"--init", "wide"}, "expects a number or fan"},
      {{"--width", "10", "--heads", "3"}, "--width 10 must be a multiple of --heads 3"},
      {{"--heads", "0"}, "--heads must be from 1 to --width 64"},
      {{"--task", "recall", "--length", "17"}, "from 2 to 16, not 17"},
      {{"--task", "copy", "--text", "x"}, "--task excludes --text"},
      {{"--resume", "x", "--rate", "0.1"}, "is decided by the checkpoint"},
      {{"surprise"}, "surprise"},
      {{"--resume", ""}, "--resume: the name of the file is empty"},
      {{"--report", ""}, "--report: the name of the file is empty"},
      {{"--checkpoint", ""}, "--checkpoint: the name of the file is empty"},
      {{"--json", ""}, "--json: the name of the file is empty"},
      {{"--text", ""}, "--text: the name of the file is empty"},
  }));
  const Ended ended = run(arguments, folder);
  CHECK(ended.code == 2);
  CHECK_THAT(ended.output, ContainsSubstring(message));
  CHECK_THAT(ended.output, ContainsSubstring("--help"));
}

namespace {

/// Each of these values of the option is wrong usage.
void check_refused(const std::string& option, const std::vector<std::string>& values) {
  const TemporaryFolder folder;
  for (const std::string& value : values) {
    const Ended ended = run({option, value}, folder);
    INFO(option << " '" << value << "': " << ended.output);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.output, ContainsSubstring(option));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace

TEST_CASE("what is no whole number, or out of its range, is wrong usage") {
  for (const std::string option : {"--seed", "--length", "--layers", "--heads", "--width",
                                   "--steps", "--batch", "--warmup", "--threads"}) {
    check_refused(option, {"-1", "", " 1", "1 ", "1.5", "1e3", "+1", "0x10", "1_000", "1'000",
                           "18446744073709551616", "99999999999999999999999", "nan"});
    if (option != "--seed") check_refused(option, {"18446744073709551615"});
  }
}

TEST_CASE("what is no finite number, or out of its range, is wrong usage") {
  for (const std::string option : {"--dropout", "--rate", "--beta1", "--beta2", "--weight-decay",
                                   "--clip", "--init", "--init-embedding"}) {
    check_refused(option, {"-1", "", " 1", "1 ", "1e400", "inf", "nan", "-1.5", "0x1p2000", "x"});
  }
}

TEST_CASE("the largest seed is a seed") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1", "--seed", "18446744073709551615", "--json", "r.json"}), folder)
              .code == 0);
  CHECK(results(folder).at("seed") == 18446744073709551615U);
}

TEST_CASE("one file for two results, or for a result and what is read, is wrong usage") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(2000, 'a') << "b";
  std::ofstream(folder.file("file")) << "kept";
  std::filesystem::create_symlink("file", folder.file("link"));
  std::filesystem::create_symlink("new", folder.file("dangling"));
  std::filesystem::create_hard_link(folder.file("file"), folder.file("hard"));
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const auto [one, other] = GENERATE(table<std::string, std::string>({
      {"new", "new"},
      {"new", "./new"},
      {"new", "dangling"},
      {"file", "link"},
      {"file", "hard"},
      {"link", "././link"},
      {"pipe", "pipe"},
  }));
  CAPTURE(one, other);
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Ended ended = run(arguments, folder);
    INFO(ended.output);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.output, ContainsSubstring("are one file"));
  };
  refused({"--report", one, "--checkpoint", other});
  refused({"--report", one, "--json", other});
  refused({"--checkpoint", one, "--json", other});
  refused({"--json", "text", "--text", "./text", "--length", "8"});
  CHECK(content(folder.file("file")) == "kept");
}

TEST_CASE("a checkpoint goes on in its own file, and no other result may take its place") {
  const TemporaryFolder folder;
  const std::string own = "checkpoint.safetensors";
  REQUIRE(run(small({"--steps", "2"}), folder).code == 0);
  const Ended refused =
      run({"--resume", own, "--checkpoint", "none", "--json", "./" + own}, folder);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.output, ContainsSubstring("--json and --resume are one file"));
  REQUIRE(run({"--resume", own, "--steps", "4", "--checkpoint", own, "--json", "r.json"}, folder)
              .code == 0);
  CHECK(results(folder).at("steps") == 4);
}

TEST_CASE("a text that a checkpoint names is not overwritten either") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(2000, 'a') << "b";
  REQUIRE(run({"--text", "text", "--length", "8", "--layers", "1", "--heads", "1", "--width", "8",
               "--steps", "1"},
              folder)
              .code == 0);
  const Ended ended =
      run({"--resume", "checkpoint.safetensors", "--steps", "2", "--json", "text"}, folder);
  CHECK(ended.code == 2);
  CHECK_THAT(ended.output, ContainsSubstring("--json and --text are one file"));
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

namespace {

/// The program run by a shell, which sees to where its output goes and what it finds.
Ended run_in_shell(const std::string& before, const std::string& behind,
                   const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                   tend::test::Through through = tend::test::Through::pipe) {
  std::vector<std::string> words{"-c", before + " \"$0\" \"$@\" " + behind, kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Process process("/bin/sh", words, folder.path(), through);
  const int code = process.wait();
  return {code, process.output()};
}

}  // namespace

TEST_CASE("a result that cannot be written is reported, and the others are written") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);  // nobody reads it
  for (const std::string broken : {"--checkpoint", "--report", "--json"}) {
    const TemporaryFolder inner;
    std::map<std::string, std::string> files{{"--checkpoint", inner.file("c")},
                                             {"--report", inner.file("r")},
                                             {"--json", inner.file("j")}};
    files[broken] = folder.file("pipe");
    std::vector<std::string> words{"--steps", "2"};
    for (const auto& [option, file] : files) words.insert(words.end(), {option, file});
    const Ended ended = run(small(words), folder);
    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, ContainsSubstring("cannot write " + folder.file("pipe")));
    CHECK_THAT(ended.output, ContainsSubstring("samples, decoded greedily"));
    CHECK(std::distance(std::filesystem::directory_iterator(inner.path()), {}) == 2);
    for (const auto& [option, file] : files) {
      const bool said = ended.output.find("wrote " + file) != std::string::npos;
      CHECK(said == (option != broken));
    }
  }
}

TEST_CASE("results go into pipes and through links, and keep their modes") {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::ofstream(folder.file("page")) << "old";
  std::filesystem::permissions(folder.file("page"), std::filesystem::perms::owner_read);
  std::filesystem::create_symlink("page", folder.file("link"));
  std::string json;
  std::thread reader([&] { json = content(pipe); });
  const Ended ended = run(small({"--steps", "2", "--json", "pipe", "--report", "link"}), folder);
  if (ended.code != 0) std::ofstream(pipe).close();  // lets the reader end
  reader.join();
  REQUIRE(ended.code == 0);
  CHECK(nlohmann::json::parse(json).at("steps") == 2);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK_THAT(content(folder.file("page")), ContainsSubstring("</html>"));
  CHECK(std::filesystem::status(folder.file("page")).permissions() ==
        std::filesystem::perms::owner_read);
}

TEST_CASE("standard output that takes nothing ends the program with 1, and files are written") {
  const TemporaryFolder folder;
  const Ended ended = run_in_shell("", "> /dev/full", small({"--steps", "2"}), folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("standard output could not be written"));
  CHECK(std::filesystem::exists(folder.file("checkpoint.safetensors")));
  CHECK(std::filesystem::exists(folder.file("report.html")));
  CHECK(run_in_shell("", "> /dev/full", {"--help"}, folder).code == 1);
  CHECK(run_in_shell("", ">&-", {"--help"}, folder).code == 1);
}

TEST_CASE("who stops reading the output does not stop the training") {
  const TemporaryFolder folder;
  run_in_shell("", "2>&1 | head -c 1", small({"--steps", "2"}), folder);
  CHECK(std::filesystem::exists(folder.file("report.html")));
}

TEST_CASE("a result on standard output stands among what is printed") {
  const TemporaryFolder folder;
  const Ended ended =
      run_in_shell("", "> out", small({"--steps", "2", "--json", "/dev/stdout"}), folder);
  CHECK(ended.code == 0);
  const std::string out = content(folder.file("out"));
  CHECK_THAT(out, ContainsSubstring("reverse: "));
  CHECK_THAT(out, ContainsSubstring("\"losses\""));
  CHECK_THAT(out, ContainsSubstring("wrote /dev/stdout"));
}

TEST_CASE("progress is redrawn on a terminal, and never with escapes elsewhere") {
  using tend::test::Through;
  const TemporaryFolder folder;
  const std::vector<std::string> short_run = small({"--steps", "50"});
  const auto has_escape = [](const Ended& ended) {
    return ended.output.find('\x1b') != std::string::npos;
  };
  const Ended redrawn = run_in_shell("TERM=xterm", "", short_run, folder, Through::terminal);
  CHECK(redrawn.code == 0);
  CHECK(has_escape(redrawn));
  CHECK_FALSE(has_escape(run_in_shell("TERM=dumb", "", short_run, folder, Through::terminal)));
  CHECK_FALSE(has_escape(run_in_shell("env -u TERM", "", short_run, folder, Through::terminal)));
  const Ended piped = run_in_shell("TERM=xterm", "", short_run, folder);
  CHECK_FALSE(has_escape(piped));
  CHECK(piped.output.find("step ") == std::string::npos);  // over too soon to be worth a line
}

TEST_CASE("a run of more than two seconds says where it stands, in a line of its own") {
  const TemporaryFolder folder;
  Process process(kProgram, small({"--steps", "1000000"}), folder.path());
  REQUIRE(process.wait_for("exact  "));
  CHECK_THAT(process.output(), ContainsSubstring("/1000000  "));
  CHECK(process.output().find('\x1b') == std::string::npos);
  process.send(SIGINT);
  CHECK(process.wait() == 130);
}

TEST_CASE("text comes from pipes that somebody writes to, and no other") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(1000, 'a') << std::string(1000, 'b');
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const std::vector<std::string> model{"--length", "8", "--layers", "1", "--heads", "1",
                                       "--width",  "8", "--steps",  "1", "--text"};
  const auto reads = [&](const std::string& text, const std::string& before) {
    std::vector<std::string> words = model;
    words.push_back(text);
    return run_in_shell(before, "", words, folder);
  };
  CHECK(reads("/dev/stdin", "cat text |").code == 0);
  CHECK(reads("/dev/stdin", "(sleep 4; cat text) |").code == 0);  // slow, but there
  CHECK(reads("pipe", "cat text > pipe &").code == 0);
  for (const std::string unread : {"pipe", "/dev/zero", "."}) {
    const Ended ended = reads(unread, "");
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, ContainsSubstring("cannot read " + unread));
  }
  const Ended resumed = run({"--resume", "pipe"}, folder);
  CHECK(resumed.code == 1);
  CHECK_THAT(resumed.output, ContainsSubstring("is no regular file"));
}

TEST_CASE("a checkpoint is refused whichever of its bytes changed") {
  const TemporaryFolder folder;
  REQUIRE(run({"--length", "2", "--width", "1", "--batch", "1", "--steps", "1"}, folder).code == 0);
  const std::string whole = content(folder.file("checkpoint.safetensors"));
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof header);
  const std::size_t begin = whole.find_last_not_of(' ', 8 + header - 1) + 1;
  const auto refuses = [&](std::size_t place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    std::ofstream(folder.file("damaged"), std::ios::binary) << damaged;
    try {
      train::Checkpoint checkpoint(folder.file("damaged"));
      return false;
    } catch (const std::exception&) {
      return true;
    }
  };
  for (std::size_t place = 0; place < begin; place += place < 24 ? 1 : 7) {
    INFO(place << ": " << whole.substr(place, 20));
    CHECK(refuses(place));
  }
  for (std::size_t place = 8 + header; place < whole.size(); place += 997) {
    INFO(place);
    CHECK(refuses(place));
  }
  const Ended ended = [&] {
    std::string damaged = whole;
    damaged.back() = static_cast<char>(damaged.back() ^ 64);
    std::ofstream(folder.file("damaged"), std::ios::binary) << damaged;
    return run({"--resume", "damaged"}, folder);
  }();
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("damaged is damaged: its checksum"));
}

TEST_CASE("a checkpoint of the format without a checksum goes on") {
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint.safetensors");
  REQUIRE(run(small({"--steps", "2"}), folder).code == 0);
  tend::nn::Safetensors file = tend::nn::load_safetensors(path);
  file.metadata["format"] = "tend train 1";
  tend::nn::save_safetensors(path, file.tensors, file.metadata);
  CHECK(run({"--resume", "checkpoint.safetensors", "--steps", "3"}, folder).code == 1);
  file.metadata.erase("checksum");
  tend::nn::save_safetensors(path, file.tensors, file.metadata);
  CHECK(run({"--resume", "checkpoint.safetensors", "--steps", "3"}, folder).code == 0);
}

TEST_CASE("settings that are not of their type are refused by name") {
  const train::Options options = train::default_options("recall");
  const nlohmann::json json = nlohmann::json::parse(train::options_to_json(options));
  CHECK(nlohmann::json::parse(train::options_to_json(train::options_from_json(json.dump()))) ==
        json);
  const auto check_refused = [](const std::string& text, const std::string& why) {
    INFO(text);
    CHECK_THROWS_WITH(train::options_from_json(text), ContainsSubstring(why));
  };
  const auto with = [&](const std::string& name, const nlohmann::json& value) {
    nlohmann::json changed = json;
    changed[name] = value;
    return changed.dump();
  };
  for (const auto& [name, value] : json.items()) {
    std::vector<nlohmann::json> bad{true, nlohmann::json::array(), nlohmann::json::object()};
    if (value.is_string()) bad.insert(bad.end(), {1, nullptr});
    if (value.is_number_unsigned()) bad.insert(bad.end(), {-1, 1.5, 1.0, 1e300, "1", nullptr});
    if (value.is_number_float() || value.is_null()) bad.emplace_back("0.5");
    for (const nlohmann::json& each : bad) check_refused(with(name, each), name + " is no ");
    nlohmann::json missing = json;
    missing.erase(name);
    check_refused(missing.dump(), name + " is missing");
  }
  check_refused(with("layers", 1'000'000), "--layers must be from 1 to 1024");
  check_refused(with("rate", -1), "--rate must be above 0");
  check_refused(with("depth", 3), "depth is unknown");
  std::string twice = json.dump();
  twice.insert(1, "\"seed\":1,");
  check_refused(twice, "seed is there twice");
  twice = json.dump();
  twice.replace(twice.find("\"seed\":0"), 8, "\"seed\":18446744073709551616");
  check_refused(twice, "seed is no whole number");
  check_refused("[]", "no JSON object");
  check_refused("{", "the settings cannot be used");
}
