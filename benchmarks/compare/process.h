// A worker as the driver sees it: a child process that answers lines of text.
#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace compare {

/// A worker died, did not answer or could not obey.
class WorkerError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file in memory that this process and its workers know by the same name. It lasts as long as
/// this object, however the process ends.
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
  /// Starts `command` (a path, then arguments) with just these variables, NAME=VALUE each.
  Process(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  /// Ends the process at once.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a line and returns the answer. WorkerError if the process ends, does not answer in time
  /// or answers that it failed. After the first two it cannot be asked again.
  std::string ask(const std::string& line);
  bool is_alive() const noexcept { return id_ > 0; }
  /// Waits for a short time until all threads of the process sleep. The threads of OpenBLAS and
  /// OpenMP spin for a while after their work, which would disturb the next worker.
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
