#include "tests/examples/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tend::test {

namespace {

/// The two ends of a pipe or of a terminal. The first is for reading, the second for writing.
std::array<int, 2> open_ends(Through through) {
  std::array<int, 2> ends{};
  if (through == Through::pipe) {
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    return ends;
  }
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
  if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
    throw std::runtime_error("no terminal");
  ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
  if (ends[1] < 0) throw std::runtime_error("no terminal");
  return ends;
}

}  // namespace

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 const std::string& directory, Through through) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  const std::array<int, 2> ends = open_ends(through);
  id_ = fork();
  if (id_ < 0) throw std::runtime_error("no process");
  if (id_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    if (chdir(directory.c_str()) == 0) execv(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

Process::~Process() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  close(pipe_);
}

bool Process::read_more() {
  std::array<char, 4096> part{};
  const ssize_t count = read(pipe_, part.data(), part.size());
  if (count > 0) output_.append(part.data(), static_cast<std::size_t>(count));
  return count > 0;
}

bool Process::wait_for(const std::string& text) {
  while (output_.find(text) == std::string::npos) {
    if (!read_more()) return false;
  }
  return true;
}

void Process::send(int signal) const {
  kill(id_, signal);
}

int Process::wait() {
  while (read_more()) {
  }
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tend-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Ended run_program(const std::string& path, const std::vector<std::string>& arguments,
                  const TemporaryFolder& folder, Through through) {
  Process process(path, arguments, folder.path(), through);
  const int code = process.wait();
  return {code, process.output()};
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tend::test
