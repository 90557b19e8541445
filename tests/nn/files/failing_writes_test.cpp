// Writing to files that cannot grow further, as on a full disk.
#include <sys/resource.h>
#include <csignal>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tend/nn/files/write_file.h>
#include <tend/nn/training/run_log.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/examples/process.h"

using namespace tend;
using tend::test::content;
using tend::test::TemporaryFolder;

namespace {

// True if f() throws an IoError while no file may have more than `bytes` bytes.
template <class F>
bool is_refused_beyond(::rlim_t bytes, F f) {
  ::rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const ::rlimit lower{bytes, limit.rlim_max};
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &lower);
  bool is_refused = false;
  try {
    f();
  } catch (const IoError&) {
    is_refused = true;
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  return is_refused;
}

}  // namespace

TEST_CASE("a file that grows beyond the largest size is an error and leaves nothing") {
  const TemporaryFolder folder;
  CHECK(is_refused_beyond(4096, [&] { nn::save_npy(folder.file("a.npy"), ones({9999})); }));
  CHECK(std::filesystem::is_empty(folder.file("")));
}

TEST_CASE("a text is appended completely or not at all") {
  const TemporaryFolder folder;
  const std::string path = folder.file("log");
  nn::append_file(path, "12345678");
  CHECK(is_refused_beyond(12, [&] { nn::append_file(path, "abcdefgh"); }));
  CHECK(content(path) == "12345678");
}

TEST_CASE("a log that grows beyond the largest size is an error, and a run can continue it") {
  const TemporaryFolder folder;
  CHECK(is_refused_beyond(500, [&] {
    const nn::RunLog log(folder.file(""), 0);
    for (std::int64_t step = 1; step < 99; ++step) log.write({.step = step});
  }));
  const nn::RunLog log(folder.file(""), 1);
  log.write({.step = 2});
  std::ifstream table(folder.file("log.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);) lines.push_back(line);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].starts_with("1,"));
  CHECK(lines[2].starts_with("2,"));
}
