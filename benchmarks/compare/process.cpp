#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace compare {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

constexpr std::chrono::seconds kPatience{120};  // the longest wait for an answer

}  // namespace

SharedFile::SharedFile() : file_(memfd_create("compare", MFD_CLOEXEC)) {
  if (file_ < 0) throw std::runtime_error("cannot create a file in memory");
  path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
}

SharedFile::~SharedFile() {
  close(file_);
}

Process::Process(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment) {
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  // The pipes are closed on exec. Otherwise another worker would keep this worker's pipe open.
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0) {
    throw WorkerError("cannot create a pipe");
  }
  id_ = fork();
  if (id_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the worker ends with the driver
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  if (id_ < 0) throw WorkerError("cannot start a process");
}

Process::~Process() {
  end();
  close(to_child_);
  close(from_child_);
}

void Process::end() noexcept {
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
  id_ = -1;
}

std::string Process::ask(const std::string& line) {
  if (!is_alive()) throw WorkerError("is not running");
  const std::string sent = line + "\n";
  if (write(to_child_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size())) {
    end();
    throw WorkerError("died before \"" + line + "\"");
  }
  std::string answer;
  try {
    answer = read_line();
  } catch (const WorkerError& error) {
    end();
    throw WorkerError(std::string(error.what()) + " at \"" + line + "\"");
  }
  if (answer.starts_with("failed ")) {
    throw WorkerError("failed at \"" + line + "\": " + answer.substr(7));
  }
  return answer;
}

void Process::settle() const {
  using namespace std::chrono_literals;
  const auto runs = [](const std::filesystem::path& thread) {
    std::ifstream file(thread / "stat");  // ID (NAME) STATE ...
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text[name_end + 2] == 'R';
  };
  const std::filesystem::path threads = "/proc/" + std::to_string(id_) + "/task";
  for (int i = 0; i < 100; ++i) {
    std::error_code ended;
    bool is_idle = true;
    for (const auto& thread : std::filesystem::directory_iterator(threads, ended)) {
      is_idle = is_idle && !runs(thread.path());
    }
    if (is_idle) return;
    std::this_thread::sleep_for(3ms);
  }
}

std::string Process::read_line() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (unread_.find('\n') == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting{from_child_, POLLIN, 0};
    const int found = left.count() > 0 ? poll(&waiting, 1, static_cast<int>(left.count())) : 0;
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) throw WorkerError("did not answer in time");
    std::array<char, 4096> part{};
    const ssize_t count = read(from_child_, part.data(), part.size());
    if (count <= 0) throw WorkerError("died");
    unread_.append(part.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end_of_line = unread_.find('\n');
  std::string line = unread_.substr(0, end_of_line);
  unread_.erase(0, end_of_line + 1);
  return line;
}

}  // namespace compare
