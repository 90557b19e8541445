#include "tests/examples/kills.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace tend::test {
namespace {

int wanted_kills() {
  const char* const wanted = std::getenv("TEND_KILLS");
  return wanted == nullptr ? 10 : std::atoi(wanted);
}

}  // namespace

Kills::Kills(std::string program,
             std::function<std::vector<std::string>(const std::string& out)> words,
             const TemporaryFolder& folder)
    : program_(std::move(program)), words_(std::move(words)), folder_(folder) {
  using std::chrono::microseconds, std::chrono::steady_clock;
  const auto start = steady_clock::now();
  const Ended whole = run_program(program_, words_("whole"), folder_);
  if (whole.code != 0) throw std::runtime_error(whole.output);
  const auto time = std::chrono::duration_cast<microseconds>(steady_clock::now() - start);
  // Most kills come late enough for some progress, also on a slow machine.
  delay_ = std::uniform_int_distribution<std::int64_t>(0, time.count() * 6 / 10);
}

bool Kills::has_more() const {
  return kills_ < wanted_kills();
}

std::string Kills::run() {
  const std::string out = "killed" + std::to_string(runs_++);
  for (;;) {
    auto arguments = words_(out);
    arguments.insert(arguments.end(), {"--threads", kills_ % 2 == 0 ? "1" : "2"});
    Process process(program_, arguments, folder_.path());
    std::this_thread::sleep_for(std::chrono::microseconds(delay_(random_)));
    process.send(SIGKILL);
    const int code = process.wait();
    if (code == 0) return out;
    if (code != 128 + SIGKILL) throw std::runtime_error(process.output());
    ++kills_;
  }
}

std::size_t files_in(const std::string& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace tend::test
