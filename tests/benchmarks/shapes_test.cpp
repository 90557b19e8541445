// Runs benchmarks/matmul and softmax with shapes from the command line. The measured times are not
// tested.

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"

using Catch::Matchers::ContainsSubstring;
using tend::test::Ended;
using tend::test::run_program;
using tend::test::TemporaryFolder;

TEST_CASE("benchmarks run only the given shapes and report the share of the peak") {
  const auto [program, shapes, names] =
      GENERATE(table<std::string, std::vector<std::string>, std::vector<std::string>>({
          {TEND_MATMUL, {"8x4x6", "3x300x1"}, {"m:8/k:4/n:6", "m:3/k:300/n:1"}},
          {TEND_SOFTMAX, {"8x4", "3x300"}, {"rows:8/columns:4", "rows:3/columns:300"}},
      }));
  const Ended ended = run_program(
      program, {"--shape", shapes[0], "--shape=" + shapes[1], "--benchmark_min_time=0.001"},
      TemporaryFolder());
  CAPTURE(ended.output);
  CHECK(ended.code == 0);
  for (const std::string& name : names) CHECK_THAT(ended.output, ContainsSubstring(name));
  CHECK_THAT(ended.output, ContainsSubstring("peak%="));
  for (const char* other : {"square", "columns:64"})
    CHECK(ended.output.find(other) == std::string::npos);
}

TEST_CASE("benchmarks refuse a malformed shape and fail if a shape does not fit in memory") {
  for (const std::string program : {TEND_MATMUL, TEND_SOFTMAX}) {
    for (const std::string shape : {"", "8", "8x", "x8x8", "8x0x8", "0x8", "8x-1x8", "8x8x8x8",
                                    "8X8", "8x8x", "8 x8", "16777217x1", "1x1x16777217"}) {
      const Ended ended = run_program(program, {"--shape", shape}, TemporaryFolder());
      INFO(program << " " << shape << ": " << ended.output);
      CHECK(ended.code == 2);
      CHECK_THAT(ended.output, ContainsSubstring("--shape '" + shape + "' is not like "));
    }
    CHECK(run_program(program, {"--shape"}, TemporaryFolder()).code == 2);
    CHECK(run_program(program, {"--sideways"}, TemporaryFolder()).code == 2);
    const Ended help = run_program(program, {"--help"}, TemporaryFolder());
    CHECK(help.code == 0);
    CHECK_THAT(help.output, ContainsSubstring("--shape "));
  }
  const Ended large =
      run_program(TEND_MATMUL, {"--shape", "16777216x16777216x1"}, TemporaryFolder());
  CHECK(large.code == 1);
}
