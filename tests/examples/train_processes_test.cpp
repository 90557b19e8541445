// The training program on several processes.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/mpirun.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

Ended train_on(int count, const std::vector<std::string>& words, const TemporaryFolder& folder) {
  return mpirun(count, kProgram, words, folder);
}

}  // namespace

TEST_CASE("train has the same losses and weights on 1, 2 and 4 processes, also after resuming") {
  const TemporaryFolder folder;
  std::vector<nlohmann::json> losses;
  for (const int count : {1, 2, 4}) {
    const std::string out = std::to_string(count);
    const Ended ended = train_on(
        count,
        small({"--shards", "4", "--steps", "20", "--save-every", "8", "--out", out, "--json", "r"}),
        folder);
    CAPTURE(count, ended.output);
    REQUIRE(ended.code == 0);
    losses.push_back(results(folder, out + "/r").at("losses"));
    CHECK(losses.back() == losses.front());
    const bool same_state = state_of(folder.file(out + "/checkpoint.safetensors")) ==
                            state_of(folder.file("1/checkpoint.safetensors"));
    CHECK(same_state);
    // Only one process writes files and prints.
    CHECK(ended.output.find("parameters;") == ended.output.rfind("parameters;"));
  }
  // The checkpoint stores the number of shards.
  const std::vector<std::string> resume{
      "--resume", "2/step-00000008.safetensors", "--out", "on", "--json", "r"};
  const Ended resumed = train_on(4, resume, folder);
  CAPTURE(resumed.output);
  REQUIRE(resumed.code == 0);
  CHECK(results(folder, "on/r").at("losses") == losses.front());
}

TEST_CASE("train refuses bad options for several processes before it writes anything") {
  const TemporaryFolder folder;
  const auto expect = [&](int count, const std::vector<std::string>& words,
                          const std::string& message) {
    const Ended ended = train_on(count, small(words), folder);
    CAPTURE(count, ended.output);
    CHECK(ended.code == 2);
    CHECK_THAT(ended.output, ContainsSubstring("train: " + message));
    CHECK(!std::filesystem::exists(folder.file("x")));
  };
  expect(2, {"--out", "x"}, "2 processes need --shards, which divides each batch among them");
  expect(2, {"--shards", "3", "--out", "x"}, "--shards 3 is not a power of two");
  expect(2, {"--shards", "8", "--out", "x"}, "--batch 4 must be a multiple of --shards 8");
}

// Sends the signal to one process and not to mpirun. If mpirun is interrupted, it kills the
// processes soon after: Open MPI 4 after a second, Open MPI 5 after half a second.
TEST_CASE("SIGINT to one of several processes ends all of them and writes the files") {
  const std::string rank = GENERATE("0", "1");
  const TemporaryFolder folder;
  const std::string program = "echo $$ > process$OMPI_COMM_WORLD_RANK; exec \"$0\" \"$@\"";
  std::vector<std::string> words = small({"--shards", "2", "--steps", "1000000"});
  words.insert(words.begin(), {"-c", program, kProgram});
  Process process("/usr/bin/env", mpirun_words(2, "/bin/sh", words), folder.path());
  REQUIRE(process.wait_for("parameters"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  REQUIRE(kill(std::stoi(content(folder.file("process" + rank))), SIGINT) == 0);
  CHECK(process.wait() == 130);
  CAPTURE(rank, process.output());
  CHECK_THAT(process.output(), ContainsSubstring("stopped after "));
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("1\u202F000\u202F000 steps"));
  CHECK(std::filesystem::exists(folder.file("checkpoint.safetensors")));
}
