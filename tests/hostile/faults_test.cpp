// Disks that are full or broken, files that vanish, signals, and transfers that are cut short: the
// n-th system call of a call on files has the fault, for every n.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <set>

#include <tend/core/threads/parallel.h>

#include "tests/catch.h"
#include "tests/hostile/options.h"
#include "tests/hostile/refusals.h"
#include "tests/hostile/system_calls.h"

using namespace tend;
using namespace tend::test;

namespace {

struct NamedFault {
  const char* name;
  Fault fault;
  bool once;
  bool is_harmless;  // the call must do all it should
};

const std::vector<NamedFault>& named_faults() {
  static const std::vector<NamedFault> all{
      {"a signal", Fault::interrupted, true, true},
      {"one byte", Fault::cut_short, true, true},
      {"single bytes", Fault::cut_short, false, true},
      {"no space", Fault::disk_full, true, false},
      {"no space from there on", Fault::disk_full, false, false},
      {"a broken disk", Fault::broken, true, false},
      {"a broken disk from there on", Fault::broken, false, false},
      {"a file that has vanished", Fault::gone, true, false}};
  return all;
}

// What the call comes to without a fault, and how many of its system calls can have it.
std::pair<std::string, std::int64_t> undisturbed(const Scenario& scenario, Fault fault) {
  const Prepared prepared = scenario.prepare();
  std::vector<Tensor> results = room_for_results();
  FaultyCall count(fault, 0, true);
  prepared.run(results);
  count.stop();
  return {digest(prepared, results), count.calls()};
}

// The call with the fault at its n-th system call. An error must leave everything as it was.
void disturb(const Scenario& scenario, const NamedFault& named, std::int64_t n,
             const std::string& expected, CallLog& log) {
  Prepared prepared = scenario.prepare();
  const Kept kept(prepared);
  std::vector<Tensor> results = room_for_results();
  FaultyCall faulty(named.fault, n, named.once);
  std::string error;
  try {
    prepared.run(results);
    faulty.stop();
  } catch (const IoError& refusal) {
    faulty.stop();
    error = refusal.what();
    if (error[0] != '[') log.fails("throws an error that names no operation", error);
  } catch (const std::exception& other) {
    faulty.stop();
    error = other.what();
    log.fails("throws what is no IoError", error);
  }
  log.blame(as_text(scenario.name, ", ", named.name, " at ", faulty.name()));
  if (error.empty()) {
    if (digest(prepared, results) != expected) log.fails("goes on to another result");
    log.ends_with_result();
    return;
  }
  if (named.is_harmless) log.fails("fails", error);
  kept.check_after_error(prepared, expected, log, prepared.files_may_go);
  log.ends_with_error();
}

void check_faults(const std::string& family, const std::vector<Scenario>& all) {
  const HostileOptions options = hostile_options(0);
  const std::vector<NamedFault>& faults = named_faults();
  const auto count = static_cast<std::int64_t>(faults.size());
  const CallRange range{0, count * static_cast<std::int64_t>(all.size())};
  const Report report = make_calls(range, [&](std::int64_t index, CallLog& log) {
    set_num_threads(1);
    const Scenario& scenario = all[static_cast<std::size_t>(index / count)];
    const NamedFault& named = faults[static_cast<std::size_t>(index % count)];
    if (!options.takes(scenario.name)) return;
    const auto [expected, calls] = undisturbed(scenario, named.fault);
    for (std::int64_t n = 1; n <= calls; ++n) {
      log.start(scenario.name,
                as_text(scenario.name, ", ", named.name, " at call ", n, " of ", calls), false);
      disturb(scenario, named, n, expected, log);
    }
  });
  std::cout << "system calls that fail, " << family << ": " << all.size() << " scenarios, "
            << report;
  CHECK(report.errors > 0);
  CHECK(report.results > 0);
  CHECK(report.failures.empty());
}

// The names that the pattern's group finds in the sources of a folder, or in one source.
std::set<std::string> names_in(const std::filesystem::path& path, const std::regex& pattern) {
  if (std::filesystem::is_directory(path)) {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      all.merge(names_in(entry.path(), pattern));
    return all;
  }
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

}  // namespace

TEST_CASE("every system call of the library on files can be made to fail") {
  const std::filesystem::path root(TEND_SOURCE);
  const std::regex passed_over(
      // Failures are of no consequence, or have another way out.
      "access|close|fchown|ftruncate|munmap|unlink|readdir|"
      // Fails for want of memory alone, which other tests refuse.
      "fdopen|"
      // Not about a file.
      "fcntl|getpid|poll|pthread_sigmask|sig.*");
  const auto disturbed = names_in(root / "tests/hostile/system_calls.cpp",
                                  std::regex("(?:fails|transferred)\\(\"([a-z]+)\""));
  for (const char* folder : {"nn/files", "nn/data", "nn/training", "nn/archives", "nn/text"}) {
    const std::regex calls("[^\\w>]::([a-z_0-9]+)\\(");
    for (const std::string& call : names_in(root / folder, calls)) {
      INFO(folder << " calls " << call);
      CHECK(disturbed.count(call) + std::regex_match(call, passed_over) == 1);
    }
  }
}

TEST_CASE("files on full and broken disks stay whole, and signals do no harm", "[hostile]") {
  check_faults("files", file_scenarios());
}

#ifdef TEND_HAS_TEXT
TEST_CASE("tokenizers on full and broken disks leave files whole", "[hostile]") {
  check_faults("text", text_scenarios());
}
#endif

#ifdef TEND_HAS_ARCHIVES
TEST_CASE("archives on full and broken disks leave files whole", "[hostile]") {
  check_faults("archives", archive_scenarios());
}
#endif
