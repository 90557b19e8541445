// The training program on several processes.
#include <chrono>
#include <csignal>
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

TEST_CASE("train has the same losses and weights on 1, 2 and 4 processes, also when it goes on") {
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
    // One process writes, and speaks.
    CHECK(ended.output.find("parameters;") == ended.output.rfind("parameters;"));
  }
  const Ended resumed = train_on(
      4, {"--resume", "2/step-00000008.safetensors", "--shards", "4", "--out", "on", "--json", "r"},
      folder);
  CAPTURE(resumed.output);
  REQUIRE(resumed.code == 0);
  CHECK(results(folder, "on/r").at("losses") == losses.front());
  CHECK(train_on(2, small({"--shards", "3", "--out", "x"}), folder).code == 2);
}

TEST_CASE("Ctrl-C ends a training on several processes with its files") {
  const TemporaryFolder folder;
  std::vector<std::string> words =
      mpirun_words(2, kProgram, small({"--shards", "2", "--steps", "1000000"}));
  // By default, Open MPI kills the processes one second after it was interrupted. Here it waits for
  // eight, which is enough for the report of a small model.
  words.insert(words.begin(), "OMPI_MCA_odls_base_sigkill_timeout=8");
  Process process("/usr/bin/env", words, folder.path());
  REQUIRE(process.wait_for("parameters"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  process.send(SIGINT);
  CHECK(process.wait() != 0);
  CAPTURE(process.output());
  CHECK_THAT(process.output(), ContainsSubstring("stopped after "));
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("1\u202F000\u202F000 steps"));
}
