// Programs as a user runs them: as processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tend::test {

/// Where a program's output goes on its way to the test.
enum class Through { pipe, terminal };

/// A started program, whose output is collected.
class Process {
 public:
  /// `program` is a path; it starts in the folder `directory`.
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const std::string& directory, Through through = Through::pipe);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Reads the output until it holds `text`; false when the program ends without it.
  bool wait_for(const std::string& text);
  void send(int signal) const;
  /// Waits for the end: the exit code, or 128 and the signal that ended the program.
  int wait();
  /// stdout and stderr, as far as read.
  const std::string& output() const { return output_; }

 private:
  bool read_more();

  pid_t id_ = -1;
  int pipe_ = -1;
  std::string output_;
};

/// An empty folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// How a program ended, and what it said.
struct Ended {
  int code;
  std::string output;
};

/// Runs the program at `path` to its end, in `folder`.
Ended run_program(const std::string& path, const std::vector<std::string>& arguments,
                  const TemporaryFolder& folder, Through through = Through::pipe);

/// The bytes of a file.
std::string content(const std::string& path);

}  // namespace tend::test
