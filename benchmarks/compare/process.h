// The driver's side of a worker: a child process that answers lines of text.
#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace compare {

/// A worker died, did not answer in time, or answered that it failed.
class WorkerError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file in memory, whose path is the same for this process and its workers. It exists as long as
/// this object, even if the process is killed.
class SharedFile {
 public:
  SharedFile();
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  int file_;
  std::string path_;
};

class Process {
 public:
  /// Starts `command` (a path and its arguments) with only these environment variables, each
  /// NAME=VALUE.
  ///
  /// Throws: WorkerError - the process could not be created
  Process(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  /// Kills the process.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a line and returns the answer.
  ///
  /// If the process ends or does not answer in time, it is killed and cannot be asked again.
  ///
  /// Throws: WorkerError - the process ends, does not answer in time, or answers that it failed
  std::string ask(const std::string& line);
  bool is_alive() const noexcept { return id_ > 0; }
  /// Waits until all threads of the process sleep, for at most 0.3 seconds. The threads of
  /// OpenBLAS and OpenMP spin for a while after their work, which would disturb the next worker.
  void settle() const;

 private:
  std::string read_line();
  void end() noexcept;

  pid_t id_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string unread_;
};

}  // namespace compare
