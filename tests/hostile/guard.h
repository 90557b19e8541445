// Calls that may crash or never end: made in child processes, of which one dies and the next goes
// on.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>

namespace tend::test {

/// What came of many calls.
struct Report {
  struct Group {
    std::int64_t count = 0;
    std::string first;  // the call, with what is needed to make it again
  };
  std::int64_t calls = 0;
  std::int64_t results = 0;  // calls that gave what they promise
  std::int64_t errors = 0;   // calls that threw tend::Error
  std::int64_t stopped = 0;  // calls on so many elements that they were not awaited
  std::map<std::pair<std::string, std::string>, Group> failures;  // by function and kind

  void add(const std::string& function, const std::string& kind, const std::string& call);
  std::int64_t failed() const;
};
/// The counts, and the failures by function and kind.
std::ostream& operator<<(std::ostream& out, const Report& report);

/// The call that is being made, as the parent process sees it. What is noted survives a crash.
class CallLog {
 public:
  /// Before the call. One that `may_be_long` is stopped after a moment, which is no failure;
  /// others are failures when they do not end.
  void start(const std::string& function, const std::string& call, bool may_be_long);
  /// Failures of this call will stand under this name instead of the function's.
  void blame(const std::string& function);
  void ends_with_result();
  void ends_with_error();
  /// `kind` names what is wrong, without numbers that differ from call to call.
  void fails(const std::string& kind, const std::string& detail = {});
};

struct CallRange {
  std::int64_t first = 0;
  std::int64_t last = 0;  // exclusive
  double seconds = 1e18;  // at most, for all together
};

/// make(index, log) for every index of the range, each in a child process. Requests for more than
/// 64 MiB at once are refused there.
Report make_calls(const CallRange& range, const std::function<void(std::int64_t, CallLog&)>& make);

/// A file that only this process uses, in the folder for temporary files.
std::string scratch_file();

}  // namespace tend::test
