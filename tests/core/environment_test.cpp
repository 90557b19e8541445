// What tend finds when it starts, each time in a process of its own.

#include <sched.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <tend/core/memory/pool.h>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/sanitizers.h"
#include "tests/simd_targets.h"

namespace {

// What the probe prints to `question` in an environment with these variables, on a line.
std::string probe(const std::vector<std::string>& question,
                  const std::vector<std::string>& before = {}) {
  std::vector<std::string> arguments = {"-u", "TEND_NUM_THREADS", "-u", "TEND_MATMUL",
                                        "-u", "TEND_SIMD"};
  arguments.insert(arguments.end(), before.begin(), before.end());
  arguments.emplace_back(TEND_PROBE);
  arguments.insert(arguments.end(), question.begin(), question.end());
  tend::test::Process process("/usr/bin/env", arguments, "/");
  REQUIRE(process.wait() == 0);
  return process.output();
}

int first_processor() {
  cpu_set_t mask;
  REQUIRE(sched_getaffinity(0, sizeof mask, &mask) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &mask)) ++first;
  return first;
}

}  // namespace

TEST_CASE("TEND_NUM_THREADS says how many threads there are, and what is no number says nothing") {
  const std::string all = probe({"threads"});
  CHECK(probe({"threads"}, {"TEND_NUM_THREADS=1"}) == "1\n");
  CHECK(probe({"threads"}, {"TEND_NUM_THREADS=3"}) == "3\n");
  for (const char* text : {"", "0", "-1", "3x", " 3"}) {
    CAPTURE(text);
    CHECK(probe({"threads"}, {std::string("TEND_NUM_THREADS=") + text}) == all);
  }
}

TEST_CASE("Without TEND_NUM_THREADS there are as many threads as processors that may be used") {
  const std::string first = std::to_string(first_processor());
  CHECK(probe({"threads"}, {"taskset", "-c", first}) == "1\n");
}

namespace {

// Calls f with the name of each flavour of OpenBLAS that is installed, as Debian's
// libopenblas0-serial and so on do it, and the variable that makes a process load it.
template <class F>
void for_each_flavour(F f) {
  int installed = 0;
  for (const std::string flavour : {"serial", "pthread", "openmp"}) {
    const auto folder = std::filesystem::path(TEND_LIBRARIES) / ("openblas-" + flavour);
    if (!exists(folder / "libopenblas.so.0")) continue;
    f(flavour, "LD_LIBRARY_PATH=" + folder.string());
    ++installed;
  }
  if (installed == 0) WARN("no flavour of OpenBLAS is installed as Debian's packages do");
}

}  // namespace

TEST_CASE("OpenBLAS of any flavour keeps to one thread on each of tend's") {
  const auto run = [](std::vector<std::string> environment) {
    for (const char* wish : {"TEND_NUM_THREADS=3", "OPENBLAS_NUM_THREADS=4", "OMP_NUM_THREADS=4"}) {
      environment.emplace_back(wish);
    }
    environment.emplace_back("TEND_MATMUL=blas");
    return probe({"blas", "1700"}, environment);  // so large that there are several blocks
  };
  // One thread for every call, and no more of them than tend has.
  CHECK_THAT(run({}), Catch::Matchers::EndsWith(" 1 0\n"));
  for_each_flavour([&](const std::string& flavour, const std::string& variable) {
    CHECK(run({variable}) == flavour + " 1 0\n");
  });
}

// A serial OpenBLAS has no locks: without tend's, some of these would be wrong.
TEST_CASE("Products of several threads are right with OpenBLAS of any flavour") {
  for_each_flavour([](const std::string& flavour, const std::string& variable) {
    CAPTURE(flavour);
    CHECK(probe({"overlap", "112"}, {variable, "TEND_MATMUL=blas"}) == "right\n");
    CHECK(probe({"overlap", "112"}, {variable}) == "right\n");
  });
}

TEST_CASE("TEND_MATMUL names the path of products, and what is no name says nothing") {
  CHECK(probe({"path"}) == "automatic\n");
  for (const std::string name : {"automatic", "blas", "tiles"})
    CHECK(probe({"path"}, {"TEND_MATMUL=" + name}) == name + "\n");
  for (const std::string text : {"", "BLAS", "blas ", "1"}) {
    CAPTURE(text);
    CHECK(probe({"path"}, {"TEND_MATMUL=" + text}) == "automatic\n");
  }
}

TEST_CASE("TEND_SIMD names the instruction set of the kernels, and what is no name says nothing") {
  const std::string best = probe({"simd"});
  int count = 0;
  tend::test::for_each_simd_target([&](const std::string& target) {
    CHECK(probe({"simd"}, {"TEND_SIMD=" + target}) == target + "\n");
    ++count;
  });
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) != 0) CHECK(count > 1);  // compiled for several
  for (const std::string text : {"", "avx2", "AVX2 ", "1"}) {
    CAPTURE(text);
    CHECK(probe({"simd"}, {"TEND_SIMD=" + text}) == best);
  }
}

TEST_CASE("A training step makes the process hardly larger than its tensors are") {
  if (!tend::detail::kKeepsBlocks || TEND_TEST_TSAN) return;  // sanitizers need memory themselves
  std::istringstream answer(probe({"memory"}));
  double grown = 0, held = 0;
  answer >> grown >> held;
  CHECK(held > 60e6);
  // A twentieth lies idle, or is less than a page of 2 MiB; 12 MB are code that is loaded, small
  // objects, and what threads need.
  CHECK(grown < 1.05 * held + 12e6);
}

#if defined(__x86_64__)
TEST_CASE("The path automatic avoids an OpenBLAS with kernels for an older processor") {
  const std::string prescott = "OPENBLAS_CORETYPE=Prescott";
  if (probe({"core"}, {prescott}) != "Prescott\n") return;  // built for one processor
  if (!__builtin_cpu_supports("avx2")) return;
  const std::string reason = "tiles but for single columns: OpenBLAS runs kernels for an older";
  CHECK_THAT(probe({"products"}, {prescott}), Catch::Matchers::ContainsSubstring(reason));
  CHECK(probe({"products"}, {prescott, "TEND_MATMUL=blas"}) == "blas\n");
  CHECK(probe({"products"}, {prescott, "TEND_MATMUL=tiles"}) == "tiles\n");
}
#endif
