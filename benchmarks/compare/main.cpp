// Measures tend against other libraries in turn. Each library runs in its own processes.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <stdexcept>

#include <tend/nn/training/progress_line.h>

#include "examples/program.h"
#include "measurement.h"
#include "operations.h"
#include "peers.h"
#include "report.h"
#include "rows.h"

namespace {

struct Options {
  std::string json_path;
  std::string rows = ".*";
  int sample = 0;  // the number of rows to choose at random; 0: all
  std::vector<std::string> peers;
  std::string tend;
  int cores = 0;  // 0: all
  bool list = false;
  bool operations = false;
  bool glances = true;  // see measure_operation(); false if the user gives --repetitions
  compare::Plan plan;
};

/// Restricts this process and its children to the first `count` of the cores that they may use (0:
/// all of them). So every library finds this number of cores by itself. Returns the number.
int use_cores(int count) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) throw std::runtime_error("no affinity mask");
  int kept = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores)) continue;
    if (count > 0 && kept == count) {
      CPU_CLR(core, &cores);
    } else {
      ++kept;
    }
  }
  if (kept < count)
    throw std::invalid_argument("there are only " + std::to_string(kept) + " cores");
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) throw std::runtime_error("cannot pin");
  return kept;
}

std::regex pattern_of(const std::string& rows) {
  try {
    return std::regex(rows);
  } catch (const std::regex_error& error) {
    throw std::invalid_argument(std::string("--rows: ") + error.what());
  }
}

/// The rows whose names match --rows; with --sample, a random sample of them.
template <class Row, class Name>
std::vector<Row> chosen_rows(std::vector<Row> rows, const Options& options, Name name) {
  const std::regex wanted = pattern_of(options.rows);
  std::erase_if(rows, [&](const Row& row) { return !std::regex_search(name(row), wanted); });
  if (rows.empty()) throw std::invalid_argument("--rows: no row's name matches " + options.rows);
  if (options.sample == 0) return rows;
  std::vector<Row> drawn;
  std::sample(rows.begin(), rows.end(), std::back_inserter(drawn), options.sample,
              std::mt19937_64(options.plan.seed));
  return drawn;
}

std::string worker_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "compare_workers";
}

std::vector<compare::Peer> chosen_peers(const Options& options) {
  std::vector<compare::Peer> peers =
      compare::find_peers(worker_folder(), options.tend, options.plan.threads);
  for (const std::string& name : options.peers) {
    if (std::ranges::find(peers, name, &compare::Peer::name) == peers.end())
      throw std::invalid_argument("no worker was built for " + name);
  }
  if (!options.peers.empty()) {
    std::erase_if(peers, [&](const compare::Peer& peer) {
      return peer.role == compare::Role::peer &&
             std::ranges::find(options.peers, peer.name) == options.peers.end();
    });
  }
  return peers;
}

/// Asks every worker for its library's version and settings, and measures the machine's limits. A
/// worker that does not answer is left out and reported as a failure. If tend's worker does not
/// answer, throws WorkerError.
compare::Facts introduce(compare::Bench& bench, std::vector<std::string>& failures) {
  compare::Facts facts;
  const std::vector<compare::Peer> peers = bench.peers();
  for (const compare::Peer& peer : peers) {
    try {
      facts[peer.name] = bench.about(peer);
    } catch (const compare::WorkerError& error) {
      if (peer.role == compare::Role::subject) throw;
      failures.emplace_back(error.what());
      bench.leave_out(peer.name);
      continue;
    }
    if (peer.name == "machine") {
      char text[128];
      std::snprintf(text, sizeof text, "; FMA peak %.0f GFLOP/s, one thread %.0f; copy %.0f GB/s",
                    1 / bench.time(peer, "flops 1000000000"),
                    1 / bench.time(peer, "flops_one_thread 1000000000"),
                    1 / bench.time(peer, "bytes 1000000000"));
      facts[peer.name] += text;
    }
    std::cout << peer.name << ": " << facts[peer.name] << '\n';
  }
  return facts;
}

int run(const Options& options) {
  const std::vector<compare::Row> rows =
      chosen_rows(compare::all_rows(), options, [](const compare::Row& row) { return row.name; });
  if (options.list) {
    for (const compare::Row& row : rows) std::cout << row.name << '\n';
    return 0;
  }
  program::check_can_write(options.json_path);
  compare::Bench bench(chosen_peers(options), options.plan);
  std::vector<std::string> failures;
  const compare::Facts facts = introduce(bench, failures);
  std::cout << '\n' << compare::table_head(bench.peers()) << std::flush;
  std::vector<compare::Measurement> measurements;
  tend::nn::ProgressLine progress;
  for (const compare::Row& row : rows) {
    const std::string count = std::to_string(measurements.size()) + " of ";
    progress.show_when_due(count + std::to_string(rows.size()) + ": " + row.name);
    measurements.push_back(bench.measure(row));
    const std::vector<std::string>& found = measurements.back().failures;
    failures.insert(failures.end(), found.begin(), found.end());
    progress.clear();
    std::cout << compare::table_row(bench.peers(), measurements.back()) << std::flush;
    // After every row, so that an interrupted run keeps its rows.
    program::write_results(options.json_path, [&] {
      return compare::report_json(bench.peers(), measurements, facts).dump(1);
    });
  }
  std::cout << '\n'
            << compare::memory_table(measurements)
            << compare::settings_list(bench.peers(), measurements) << std::flush;
  for (const std::string& failure : failures) std::cerr << "compare: " << failure << '\n';
  return failures.empty() ? 0 : 1;
}

/// The time of copying a number of bytes, in seconds. It is measured only for powers of 1.1. Other
/// numbers use the time of the next larger power, in proportion.
class CopyTimes {
 public:
  explicit CopyTimes(compare::Bench& bench) : bench_(bench) {}

  double operator()(double bytes) {
    constexpr double kStep = 1.1;
    const double size = std::ceil(std::log(std::max(bytes, 1.0)) / std::log(kStep));
    const double measured = std::round(std::pow(kStep, size));
    auto found = seconds_.find(measured);
    if (found == seconds_.end()) {
      const std::string work = "bytes " + std::to_string(std::llround(measured));
      found = seconds_.emplace(measured, bench_.time(bench_.peers().back(), work)).first;
    }
    return found->second * bytes / measured;
  }

 private:
  compare::Bench& bench_;
  std::map<double, double> seconds_;
};

/// Measures briefly at first. If this does not show that tend is much faster, measures again with
/// the full effort.
compare::Measurement measure_operation(compare::Bench& bench, const compare::Row& row) {
  constexpr compare::Effort kGlance{.repetitions = 3, .milliseconds = 5};
  constexpr double kFarAhead = 1.3;
  compare::Measurement found = bench.measure(row, kGlance);
  const auto tend = found.timings.find("tend");
  const auto pytorch = found.timings.find("PyTorch");
  if (tend == found.timings.end() || pytorch == found.timings.end()) return found;
  if (pytorch->second.seconds > kFarAhead * tend->second.seconds) return found;
  return bench.measure(row);
}

int run_operations(const Options& options) {
  const std::vector<compare::Peer> peers =
      compare::operation_peers(worker_folder(), options.tend, options.plan.threads);
  const std::vector<compare::OperationRow> rows =
      chosen_rows(compare::operation_rows(peers.front()), options,
                  [](const compare::OperationRow& row) { return row.row.name; });
  if (options.list) {
    for (const compare::OperationRow& row : rows) std::cout << row.row.name << '\n';
    return 0;
  }
  program::check_can_write(options.json_path);
  const compare::InputsFile inputs;
  compare::Bench bench(peers, options.plan);
  std::vector<std::string> failures;
  const compare::Facts facts = introduce(bench, failures);
  if (!failures.empty()) {
    throw std::runtime_error(failures.front() + "; Python must find PyTorch (python3-torch)");
  }
  CopyTimes copy_seconds(bench);
  std::vector<compare::OperationResult> results;
  std::vector<std::string> left_out;
  const auto write_json = [&] {
    program::write_results(options.json_path,
                           [&] { return compare::operations_json(results, facts).dump(1); });
  };
  tend::nn::ProgressLine progress;
  std::size_t done = 0;
  for (const compare::OperationRow& row : rows) {
    progress.show_when_due(std::to_string(done++) + " of " + std::to_string(rows.size()) + ": " +
                           row.row.name);
    const compare::Measurement found =
        options.glances ? measure_operation(bench, row.row) : bench.measure(row.row);
    failures.insert(failures.end(), found.failures.begin(), found.failures.end());
    const auto tend = found.timings.find("tend");
    const auto pytorch = found.timings.find("PyTorch");
    if (tend == found.timings.end() || pytorch == found.timings.end()) {
      if (found.failures.empty()) left_out.push_back(row.row.name);
      continue;
    }
    results.push_back({row, tend->second.seconds, pytorch->second.seconds,
                       copy_seconds(inputs.bytes()), pytorch->second.options});
    if (results.size() % 100 == 0) write_json();  // in case the run is interrupted
  }
  progress.clear();
  std::cout << '\n' << compare::operations_report(results);
  if (!left_out.empty()) std::cout << "Left out, because tend or PyTorch has no such case:\n";
  for (const std::string& name : left_out) std::cout << "- " << name << '\n';
  std::cout << std::flush;
  write_json();
  for (const std::string& failure : failures) std::cerr << "compare: " << failure << '\n';
  return failures.empty() ? 0 : 1;
}

void add_options(program::CommandLine& line, Options& options) {
  compare::Plan& plan = options.plan;
  line.add_json(options.json_path);
  line.add_text("--rows", options.rows, "Only rows whose name matches").type("REGEX");
  line.add_whole("--sample", options.sample, "Only a random sample of this number of rows", 1,
                 1'000'000);
  const program::Option peers =
      line.add_words("--peers", options.peers, "Only these libraries, separated by commas")
          .type("NAME");
  line.add_whole("--repetitions", plan.effort.repetitions, "Timings of each row in each library", 1,
                 1000)
      .default_text(std::to_string(plan.effort.repetitions));
  line.add_whole("--threads", options.cores, "Cores that every library may use; all by default", 1,
                 tend::kMaxThreads);
  line.add_whole("--seed", plan.seed, "Seed of the inputs and of --sample")
      .default_text(std::to_string(plan.seed));
  line.add_text("--tend", options.tend, "The worker of another build of tend")
      .type("FILE")
      .must_exist();
  line.add_flag("--operations", options.operations,
                "Instead, compare every operation of the operation table with PyTorch in Python "
                "(python3-torch)")
      .excludes(peers);
  line.add_flag("--list", options.list, "Print the names of the rows, and stop");
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "compare",
      "Measures tend against the other libraries whose workers were built. Each runs in its own "
      "process, in turn, after a check that all results agree. Prints a Markdown table of medians. "
      "Exits with 1 if a result is wrong or a worker dies.");
  Options options;
  add_options(line, options);
  return line.run(argc, argv, [&] {
    std::signal(SIGPIPE, SIG_IGN);  // write() reports a dead worker by its result
    options.glances = !line.was_given("--repetitions");
    options.plan.threads = use_cores(options.cores);
    return options.operations ? run_operations(options) : run(options);
  });
}
