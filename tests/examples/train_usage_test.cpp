// The command line of the training program.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

TEST_CASE("wrong usage is explained and exits with 2") {
  const TemporaryFolder folder;
  const auto [arguments, message] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--task", "juggle"}, "juggle not in"},
      {{"--steps", "many"}, "--steps"},
      {{"--rate", "nan"}, "--rate: 'nan' is not a finite number"},
      {{"--rate", "0"}, "--rate must be above 0"},
      {{"--init", "wide"}, "expects a number or fan"},
      {{"--width", "10", "--heads", "3"}, "--width 10 must be a multiple of --heads 3"},
      {{"--steps", "5", "--max-steps", "4"}, "--max-steps must be from --steps 5 to"},
      {{"--text", "x", "--max-steps", "1000"}, "--max-steps is for tasks with right answers"},
      {{"--resume", "x", "--max-steps", "1000"}, "is decided by the checkpoint"},
      {{"--heads", "0"}, "--heads must be from 1 to 65536"},
      {{"--task", "recall", "--length", "17"}, "from 2 to 16, not 17"},
      {{"--task", "copy", "--text", "x"}, "--task excludes --text"},
      {{"--resume", "x", "--rate", "0.1"}, "is decided by the checkpoint"},
      {{"--require", "1.01"}, "--require: '1.01' is not a number from 0 to 1"},
      {{"--text", "x", "--require", "0.5"}, "--require is for tasks with right answers"},
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

TEST_CASE("the largest 64-bit seed is accepted") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1", "--seed", "18446744073709551615", "--json", "r.json"}), folder)
              .code == 0);
  CHECK(results(folder).at("seed") == 18446744073709551615U);
}

TEST_CASE("help shows the defaults of the given task") {
  const TemporaryFolder folder;
  const Ended ended = run({"--task", "recall", "--help"}, folder);
  CHECK(ended.code == 0);
  // The learning rate of recall. CLI11 2.1 writes "FLOAT=0.0015", later versions write
  // "FLOAT [0.0015]".
  CHECK_THAT(ended.output, ContainsSubstring("0.0015"));
}
