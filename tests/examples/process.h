// Runs programs as processes, as a user does.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tend::test {

/// The kind of connection through which a test reads a program's output.
enum class Through { pipe, terminal };

/// A running program. Its output is collected.
class Process {
 public:
  /// Starts the program at the path `program` in the folder `directory`.
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const std::string& directory, Through through = Through::pipe);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Reads the output until it contains `text`. Returns false if the program ends before that.
  bool wait_for(const std::string& text);
  void send(int signal) const;
  /// Waits until the program ends. Returns the exit code, or 128 plus the number of the signal that
  /// ended the program.
  int wait();
  /// The output on stdout and stderr that was read so far.
  const std::string& output() const { return output_; }

 private:
  bool read_more();

  pid_t id_ = -1;
  int pipe_ = -1;
  std::string output_;
};

/// An empty temporary folder. The destructor deletes it.
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

/// The exit code of a program, and its output.
struct Ended {
  int code;
  std::string output;
};

/// Runs the program at `path` in `folder`, and waits until it ends.
Ended run_program(const std::string& path, const std::vector<std::string>& arguments,
                  const TemporaryFolder& folder, Through through = Through::pipe);

/// The bytes of a file.
std::string content(const std::string& path);

}  // namespace tend::test
