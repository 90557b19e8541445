// Environment variables that tend reads when it starts. Each test runs tend in a new process.

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

// The line that the probe prints for `question`. `before` contains more arguments of /usr/bin/env,
// such as environment variables.
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

TEST_CASE("TEND_NUM_THREADS sets the number of threads and other texts are ignored") {
  const std::string all = probe({"threads"});
  CHECK(probe({"threads"}, {"TEND_NUM_THREADS=1"}) == "1\n");
  CHECK(probe({"threads"}, {"TEND_NUM_THREADS=3"}) == "3\n");
  for (const char* text : {"", "0", "-1", "3x", " 3"}) {
    CAPTURE(text);
    CHECK(probe({"threads"}, {std::string("TEND_NUM_THREADS=") + text}) == all);
  }
}

TEST_CASE("Without TEND_NUM_THREADS tend uses one thread for each processor that it may use") {
  const std::string first = std::to_string(first_processor());
  CHECK(probe({"threads"}, {"taskset", "-c", first}) == "1\n");
}

namespace {

// Calls f for each flavour of OpenBLAS that is installed by Debian's packages (libopenblas0-serial
// and so on). The arguments are the flavour's name and the variable that makes a process load it.
template <class F>
void for_each_flavour(F f) {
  int installed = 0;
  for (const std::string flavour : {"serial", "pthread", "openmp"}) {
    const auto folder = std::filesystem::path(TEND_LIBRARIES) / ("openblas-" + flavour);
    if (!exists(folder / "libopenblas.so.0")) continue;
    f(flavour, "LD_LIBRARY_PATH=" + folder.string());
    ++installed;
  }
  if (installed == 0) WARN("no flavour of OpenBLAS is installed by Debian's packages");
}

}  // namespace

TEST_CASE("OpenBLAS of any flavour uses one thread for each call from a thread of tend") {
  const auto run = [](std::vector<std::string> environment) {
    for (const char* wish : {"TEND_NUM_THREADS=3", "OPENBLAS_NUM_THREADS=4", "OMP_NUM_THREADS=4"}) {
      environment.emplace_back(wish);
    }
    environment.emplace_back("TEND_MATMUL=blas");
    return probe({"blas", "1700"}, environment);  // large enough for several blocks
  };
  // Each call uses one thread, and OpenBLAS starts no threads.
  CHECK_THAT(run({}), Catch::Matchers::EndsWith(" 1 0\n"));
  for_each_flavour([&](const std::string& flavour, const std::string& variable) {
    CHECK(run({variable}) == flavour + " 1 0\n");
  });
}

// A serial OpenBLAS has no locks. Without tend's locks, some of these products would be wrong.
TEST_CASE("Products of several threads are right with OpenBLAS of any flavour") {
  for_each_flavour([](const std::string& flavour, const std::string& variable) {
    CAPTURE(flavour);
    CHECK(probe({"overlap", "112"}, {variable, "TEND_MATMUL=blas"}) == "right\n");
    CHECK(probe({"overlap", "112"}, {variable}) == "right\n");
  });
}

TEST_CASE("TEND_MATMUL sets the path of matrix products and other texts are ignored") {
  CHECK(probe({"path"}) == "automatic\n");
  for (const std::string name : {"automatic", "blas", "tiles"})
    CHECK(probe({"path"}, {"TEND_MATMUL=" + name}) == name + "\n");
  for (const std::string text : {"", "BLAS", "blas ", "1"}) {
    CAPTURE(text);
    CHECK(probe({"path"}, {"TEND_MATMUL=" + text}) == "automatic\n");
  }
}

TEST_CASE("TEND_SIMD sets the instruction set of the kernels and other texts are ignored") {
  const std::string best = probe({"simd"});
  int count = 0;
  tend::test::for_each_simd_target([&](const std::string& target) {
    CHECK(probe({"simd"}, {"TEND_SIMD=" + target}) == target + "\n");
    ++count;
  });
  // HWY_TARGETS has one bit for each target that was compiled.
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) != 0) CHECK(count > 1);
  for (const std::string text : {"", "avx2", "AVX2 ", "1"}) {
    CAPTURE(text);
    CHECK(probe({"simd"}, {"TEND_SIMD=" + text}) == best);
  }
}

TEST_CASE("A training step needs little more memory than its tensors") {
  if (!tend::detail::kKeepsBlocks || TEND_TEST_TSAN) return;  // sanitizers need memory themselves
  std::istringstream answer(probe({"memory"}));
  double grown = 0, held = 0;
  answer >> grown >> held;
  CHECK(held > 60e6);
  // A twentieth is allowed for idle memory and for partly used pages of 2 MiB. 12 MB are allowed
  // for loaded code, small objects and the memory of threads.
  CHECK(grown < 1.05 * held + 12e6);
}

#if defined(__x86_64__)
TEST_CASE("The path automatic avoids an OpenBLAS with kernels for an older processor") {
  const std::string prescott = "OPENBLAS_CORETYPE=Prescott";
  if (probe({"core"}, {prescott}) != "Prescott\n") return;  // this OpenBLAS has one core type only
  if (!__builtin_cpu_supports("avx2")) return;
  const std::string reason = "tiles except for single columns: OpenBLAS runs kernels for an older";
  CHECK_THAT(probe({"products"}, {prescott}), Catch::Matchers::ContainsSubstring(reason));
  CHECK(probe({"products"}, {prescott, "TEND_MATMUL=blas"}) == "blas\n");
  CHECK(probe({"products"}, {prescott, "TEND_MATMUL=tiles"}) == "tiles\n");
}
#endif
