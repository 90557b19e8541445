#include "tests/hostile/guard.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <ostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <tend/core/base/error.h>

#include "tests/end_child.h"
#include "tests/hostile/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define TEND_SANITIZED 1
// The tests refuse what is too large by themselves.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_stack_use_after_return=1";
}
extern "C" const char* __ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}
#else
#define TEND_SANITIZED 0
#endif

namespace tend::test {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr int kLongMilliseconds = TEND_SANITIZED ? 200 : 25;
constexpr int kEndlessSeconds = TEND_SANITIZED ? 60 : 10;

// Shared by the parent and its children.
struct Shared {
  std::int64_t at;  // the call that is being made
  std::int64_t calls, results, errors;
  bool may_be_long;
  char function[512];
  char call[1 << 14];
  // Failures: function, kind and call, each with a zero behind it.
  std::size_t used;
  char failures[1 << 22];
};

Shared* shared() {
  static auto* memory = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return memory;
}

template <std::size_t Size>
void put(char (&place)[Size], const std::string& text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = 0;
}

void set_alarm(std::int64_t milliseconds) {
  itimerval timer{};
  timer.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

using Clock = std::chrono::steady_clock;

// What handled fatal signals when the program began: nobody, or a sanitizer. The test framework
// takes them over for its own process.
struct FirstHandlers {
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
  FirstHandlers() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      sigaction(kSignals[i], nullptr, &handlers[i]);
  }
  void restore() const {
    for (std::size_t i = 0; i < std::size(kSignals); ++i)
      sigaction(kSignals[i], &handlers[i], nullptr);
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (!TEND_SANITIZED) sigaltstack(&none, nullptr);
  }
  struct sigaction handlers[std::size(kSignals)];
};
const FirstHandlers kFirstHandlers;

[[noreturn]] void run_child(const CallRange& range, std::int64_t first, Clock::time_point end,
                            int error_file,
                            const std::function<void(std::int64_t, CallLog&)>& make) {
  kFirstHandlers.restore();
  dup2(error_file, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  limit_requests(kMaxBytes);
  CallLog log;
  for (std::int64_t i = first; i < range.last && Clock::now() < end; ++i) {
    shared()->at = i;
    put(shared()->function, "generator");
    put(shared()->call, "call " + std::to_string(i));
    shared()->may_be_long = false;
    set_alarm(std::int64_t{kEndlessSeconds} * 1000);
    try {
      make(i, log);
    } catch (const std::exception& error) {
      log.fails("the generator threw", error.what());
    }
    set_alarm(0);
  }
  shared()->at = -1;
  end_child(0);
}

// What a sanitizer, or an assertion, wrote before the process ended.
std::string last_words(int error_file) {
  std::string text(20000, '\0');
  const ssize_t length = pread(error_file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  std::istringstream lines(text);
  std::string words;
  int taken = 0;
  bool speaks = false;
  for (std::string line; std::getline(lines, line) && taken < 14;) {
    speaks = speaks || line.find("ERROR") != std::string::npos ||
             line.find("runtime error") != std::string::npos ||
             line.find("Assertion") != std::string::npos ||
             line.find("terminate") != std::string::npos;
    if (!speaks) continue;
    words += "\n      " + line.substr(0, 200);
    ++taken;
  }
  return words;
}

// Which mistake it is, for the grouping: "file.cpp:12: what" of UBSan, or ASan's name of it.
std::string summary_of(const std::string& words) {
  std::smatch match;
  if (std::regex_search(
          words, match,
          std::regex("([a-z_]+\\.(?:h|cpp|cc):[0-9]+):[0-9]+: runtime error: ([a-z -]+)")))
    return ", " + match[1].str() + " " + match[2].str();
  if (std::regex_search(words, match, std::regex("AddressSanitizer: ([A-Za-z-]+)")))
    return ", " + match[1].str();
  return {};
}

void note_end(Report& report, int status, int error_file) {
  Shared& end = *shared();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    if (end.may_be_long) {
      ++report.stopped;
    } else {
      report.add(end.function, "does not end", end.call);
    }
    return;
  }
  const std::string words = last_words(error_file);
  std::string kind = WIFSIGNALED(status) ? std::string("dies of ") + strsignal(WTERMSIG(status))
                                         : "ends the process";
  report.add(end.function, kind + summary_of(words), end.call + words);
}

void collect(Report& report) {
  Shared& end = *shared();
  report.calls += end.calls;
  report.results += end.results;
  report.errors += end.errors;
  const std::string_view all(end.failures, end.used);
  for (std::size_t at = 0; at < all.size();) {
    std::string parts[3];
    for (std::string& part : parts) {
      part = all.substr(at, all.find('\0', at) - at);
      at += part.size() + 1;
    }
    report.add(parts[0], parts[1], parts[2]);
  }
  end.calls = end.results = end.errors = 0;
  end.used = 0;
}

}  // namespace

void Report::add(const std::string& function, const std::string& kind, const std::string& call) {
  Group& group = failures[{function, kind}];
  if (group.count++ == 0) group.first = call;
}

std::int64_t Report::failed() const {
  std::int64_t sum = 0;
  for (const auto& [key, group] : failures) sum += group.count;
  return sum;
}

std::ostream& operator<<(std::ostream& out, const Report& report) {
  out << report.calls << " calls: " << report.results << " results, " << report.errors
      << " errors, " << report.stopped << " stopped, " << report.failed() << " failures in "
      << report.failures.size() << " groups\n";
  for (const auto& [key, group] : report.failures) {
    out << "  " << key.first << " " << key.second << " (" << group.count << " times), first:\n"
        << "    " << group.first << '\n';
  }
  return out;
}

void CallLog::start(const std::string& function, const std::string& call, bool may_be_long) {
  Shared& place = *shared();
  put(place.function, function);
  put(place.call, call);
  place.may_be_long = may_be_long;
  ++place.calls;
  set_alarm(may_be_long ? kLongMilliseconds : kEndlessSeconds * 1000);
}

void CallLog::blame(const std::string& function) {
  put(shared()->function, function);
}

void CallLog::ends_with_result() {
  ++shared()->results;
}

void CallLog::ends_with_error() {
  ++shared()->errors;
}

void CallLog::fails(const std::string& kind, const std::string& detail) {
  Shared& place = *shared();
  for (const std::string& part :
       {std::string(place.function), kind, place.call + (detail.empty() ? "" : ": " + detail)}) {
    if (place.used + part.size() + 1 > sizeof(place.failures)) return;
    std::memcpy(place.failures + place.used, part.c_str(), part.size() + 1);
    place.used += part.size() + 1;
  }
}

namespace {

std::filesystem::path scratch_of(pid_t process) {
  return std::filesystem::temp_directory_path() / as_text("tend_hostile_", process);
}

// What a child left: files and folders whose names begin with that of its scratch file.
void remove_scratch_of(pid_t child) {
  const std::filesystem::path scratch = scratch_of(child);
  const std::string own = scratch.filename().string();
  std::error_code unknown;  // other programs' files come and go meanwhile
  std::filesystem::directory_iterator at(scratch.parent_path(), unknown), end;
  for (; !unknown && at != end; at.increment(unknown)) {
    const std::string name = at->path().filename().string();
    const bool is_longer_number =
        name.size() > own.size() && std::isdigit(static_cast<unsigned char>(name[own.size()])) != 0;
    if (!name.starts_with(own) || is_longer_number) continue;
    std::error_code kept;
    std::filesystem::remove_all(at->path(), kept);
  }
}

}  // namespace

Report make_calls(const CallRange& range, const std::function<void(std::int64_t, CallLog&)>& make) {
  Report report;
  const auto end =
      range.seconds > 1e9
          ? Clock::time_point::max()
          : Clock::now() + std::chrono::milliseconds(std::int64_t(range.seconds * 1000));
  shared()->at = -1;  // made before the children, who share it
  const int error_file = memfd_create("stderr", 0);
  std::int64_t next = range.first;
  while (next < range.last && Clock::now() < end) {
    if (ftruncate(error_file, 0) != 0) break;
    lseek(error_file, 0, SEEK_SET);
    const pid_t child = fork();
    if (child == 0) run_child(range, next, end, error_file, make);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
      throw std::runtime_error("no child process can be made");
    remove_scratch_of(child);
    if (shared()->at >= 0) note_end(report, status, error_file);
    collect(report);
    if (shared()->at < 0) break;
    next = shared()->at + 1;
  }
  close(error_file);
  return report;
}

std::string scratch_file() {
  return scratch_of(::getpid()).string();
}

}  // namespace tend::test
