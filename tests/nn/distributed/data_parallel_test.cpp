// Several processes under mpirun train with the same bits as one process, and end together.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/mpirun.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

// Runs processes. The output includes the errors of all processes, even if mpirun loses them.
Ended run_processes(int count, const std::vector<std::string>& words,
                    const TemporaryFolder& folder) {
  std::filesystem::remove(folder.file("errors"));
  Ended ended = mpirun(count, TEND_DISTRIBUTED_WORKER, words, folder);
  ended.output += content(folder.file("errors"));
  return ended;
}

// Returns the stdout of all processes, which must succeed.
std::string result_of(int count, const std::vector<std::string>& words,
                      const TemporaryFolder& folder) {
  const Ended ended = mpirun_stdout(count, TEND_DISTRIBUTED_WORKER, words, folder);
  CAPTURE(count, words, ended.output);
  REQUIRE(ended.code == 0);
  return ended.output;
}

}  // namespace

TEST_CASE("training has the same bits on 1 or 2 or 4 or 8 processes") {
  const TemporaryFolder folder;
  for (const std::string what : {"train", "kept"}) {
    const std::string one = result_of(1, {what, "8", "7"}, folder);
    CHECK(one.size() > 500);
    CHECK_THAT(one, !ContainsSubstring("never has a gradient"));
    for (const int count : {2, 4, 8}) {
      const bool is_same = result_of(count, {what, "8", "7"}, folder) == one;
      CAPTURE(what, count);
      CHECK(is_same);
    }
    // Another number of shards rounds differently, which shows that the comparison can fail.
    const bool is_same = result_of(2, {what, "4", "7"}, folder) == one;
    CHECK(!is_same);
  }
}

TEST_CASE("a program without mpirun is the only process") {
  const TemporaryFolder folder;
  const Ended alone = run_program("/usr/bin/env",
                                  {kShortWait, kNoLeakCheck, "sh", "-c",
                                   "exec \"$0\" train 4 3 2>/dev/null", TEND_DISTRIBUTED_WORKER},
                                  folder);
  REQUIRE(alone.code == 0);
  CHECK(alone.output == result_of(2, {"train", "4", "3"}, folder));
}

TEST_CASE("a run continues with the same bits on another number of processes") {
  const TemporaryFolder folder;
  const std::string whole = result_of(2, {"train", "4", "14", "checkpoint"}, folder);
  const std::string weights = whole.substr(whole.rfind('\n', whole.size() - 2));
  for (const int count : {1, 2, 4}) {
    const std::string resumed = result_of(count, {"resume", "4", "14", "checkpoint"}, folder);
    CHECK(whole.ends_with(resumed));
    CHECK(resumed.ends_with(weights));
  }
}

TEST_CASE("after a process was killed the run continues on another number of processes") {
  const TemporaryFolder folder;
  const std::string whole = result_of(2, {"train", "4", "14"}, folder);
  const Ended killed = run_processes(4, {"dies", "4", "14", "checkpoint"}, folder);
  CHECK(killed.code != 0);
  for (const int count : {1, 2}) {
    const std::string resumed = result_of(count, {"resume", "4", "14", "checkpoint"}, folder);
    CHECK(resumed.size() > 500);
    CHECK(whole.ends_with(resumed));
  }
}

TEST_CASE("the Trainers of all processes end after the same step and one of them writes") {
  const TemporaryFolder folder;
  // Process 0's evaluations become worse after step 3, so its patience ends at step 6.
  CHECK(result_of(2, {"trainer", "patient", "patience"}, folder) == "6 6 \n");
  CHECK(std::filesystem::exists(folder.file("patient/step-00000006.safetensors")));
  CHECK(result_of(4, {"trainer", "signalled", "signal"}, folder) == "5 5 5 5 \n");
  const std::string log = content(folder.file("signalled/log.jsonl"));
  CHECK(std::ranges::count(log, '\n') == 5);
  // Process 0 sets evaluations that rise. Each one after the first halves the learning rate, which
  // is 0.01 at the beginning.
  CHECK_THAT(result_of(2, {"trainer", "filled", "filled"}, folder),
             ContainsSubstring("4.88281e-06 4.88281e-06 12 12"));
}

TEST_CASE("no process writes if the options of all processes say so") {
  const TemporaryFolder folder;
  CHECK(result_of(2, {"trainer", "unwritten", "unwritten"}, folder) == "12 12 \n");
  CHECK(std::filesystem::is_empty(folder.file("unwritten")));
}

TEST_CASE("processes that were killed before their first checkpoint resume the best evaluation") {
  const TemporaryFolder folder;
  const Ended killed = run_processes(2, {"trainer", "run", "best"}, folder);
  CHECK(killed.code != 0);
  REQUIRE(std::filesystem::exists(folder.file("run/best.safetensors")));
  CHECK(!std::filesystem::exists(folder.file("run/step-00000004.safetensors")));
  // The last evaluation is from step 4, so the resumed processes begin with step 5.
  CHECK(result_of(4, {"trainer", "run", "onwards"}, folder) == "5 5 5 5 12 12 12 12 \n");
}

TEST_CASE("processes resume the same checkpoint while one of them is still writing it") {
  const TemporaryFolder folder;
  CHECK(result_of(4, {"again", "run"}, folder) == "3 3 3 3 6 6 6 6 9 9 9 9 \n");
}

TEST_CASE("a call that only some processes make is an error on all processes") {
  const TemporaryFolder folder;
  for (const std::string what : {"extra", "skipped"}) {
    const Ended ended = run_processes(4, {what}, folder);
    CAPTURE(what, ended.output);
    CHECK(ended.code != 0);
    CHECK_THAT(ended.output,
               ContainsSubstring("all processes must make the same calls in the same order"));
    if (what == "extra")
      CHECK_THAT(ended.output, ContainsSubstring("process 1 is in its call 1, Context::mean"));
  }
}

TEST_CASE("hooks of parameters see the gradients of each shard") {
  const TemporaryFolder folder;
  const std::string one = result_of(1, {"hooks"}, folder);
  CHECK_THAT(one, ContainsSubstring("[[30., 30.]]"));
  CHECK(result_of(2, {"hooks"}, folder) == one);
}

TEST_CASE("wrong arguments and differences between processes are errors on all of them") {
  const TemporaryFolder folder;
  CHECK(result_of(2, {"calls"}, folder) ==
        "0.5 1.5 6 3\n"
        "[Context::broadcast] the processes differ: process 1 has (2,) float32, but process 0 has "
        "(1,) float32\n"
        "3 1.5 tensor([ 6, 12])\n"
        "4\n"
        "[Context::gather] the processes differ: process 1 has (2,) float32, but process 0 has "
        "(1,) float32\n"
        "[DataParallel] the number of shards, 3, is not a power of two\n"
        "[DataParallel] 2 processes need at least 2 shards, got 1\n"
        "[DataParallel] bucket_bytes must be at least 1, got 0\n"
        "[Context::gather] (536870912,) float32 has more than 1073741824 bytes\n"
        "[DataParallel::part] shard -1 does not belong to this process, which has shards 0 to 1\n"
        "[DataParallel::part] the rows of (5, 2) cannot be divided into 2 shards\n"
        "[LocalRows] the size of a batch must be a multiple of the 4 shards, got 6\n");
  CHECK(result_of(2, {"shapes"}, folder) ==
        "[DataParallel] the processes differ: process 1 has up.weight (7, 5) float32, but process "
        "0 has up.weight (6, 5) float32\n");
  CHECK(result_of(2, {"options"}, folder) ==
        "[DataParallel] the processes differ: process 1 has bucket_bytes 0, but process 0 has "
        "bucket_bytes 1\n");
  for (const std::string what : {"frozen", "replaced", "converted"}) {
    CHECK_THAT(result_of(2, {what}, folder), ContainsSubstring("make a new DataParallel"));
  }
  CHECK_THAT(run_processes(2, {"nosync"}, folder).output,
             ContainsSubstring("only one of process 0 and process 1 has a NoSync"));
  CHECK_THAT(run_processes(2, {"nested"}, folder).output,
             ContainsSubstring("two gradients in one shard: a backward ran within another"));
  CHECK_THAT(run_processes(2, {"within"}, folder).output,
             ContainsSubstring("called within a backward, by its loss or a hook"));
  // After a failed backward, a process ends the others even if it continues itself.
  CHECK_THAT(run_processes(2, {"seeds"}, folder).output,
             ContainsSubstring("process 1 has used other random numbers than process 0"));
  CHECK_THAT(
      run_processes(2, {"loss"}, folder).output,
      ContainsSubstring("[DataParallel::backward] the loss of shard 0 is (2,), not one number\n"
                        "[DataParallel::backward] process 0: an earlier call failed, so no "
                        "further call is possible\n"));
  CHECK_THAT(run_processes(3, {"frozen"}, folder).output,
             ContainsSubstring("the number of processes, 3, is not a power of two"));
}

TEST_CASE("a process that dies or throws or returns early ends the others within ten seconds") {
  const TemporaryFolder folder;
  // The time to start mpirun does not count. Starting takes seconds if the host's name cannot be
  // resolved.
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_processes(4, {"hooks"}, folder).code == 0);
  const auto alone = std::chrono::steady_clock::now() - begin;
  for (const std::string what : {"killed", "throws", "catches", "leaves"}) {
    const auto start = std::chrono::steady_clock::now();
    const Ended ended = run_processes(4, {what}, folder);
    CAPTURE(ended.output);
    CHECK(std::chrono::steady_clock::now() - start - alone < std::chrono::seconds(10));
    CHECK(ended.code != 0);
    // mpirun's message names the rank in one of two forms.
    if (what == "killed") CHECK_THAT(ended.output, ContainsSubstring("process rank 1"));
    if (what == "throws") CHECK_THAT(ended.output, ContainsSubstring(",1],1]"));
    if (what == "leaves")
      CHECK_THAT(ended.output, ContainsSubstring("waits for process 1, which has ended"));
    if (what == "catches") CHECK_THAT(ended.output, ContainsSubstring("process rank 1"));
    if (what == "throws") CHECK_THAT(ended.output, ContainsSubstring("[loss] this is the end"));
  }
}
