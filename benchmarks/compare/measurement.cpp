#include "measurement.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace compare {
namespace {

/// A row that has taken this many seconds gets no more repetitions after the first three.
constexpr double kRowSeconds = 25;
constexpr std::size_t kEnough = 3;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The work of the machine's worker that measures a row's limit; "" if the row has no limit.
std::string limit_work(const Row& row) {
  std::ostringstream out;
  out.precision(0);
  out << std::fixed;
  if (row.flops > 0) out << "flops " << row.flops;
  if (row.bytes > 0) out << "bytes " << row.bytes;
  if (row.reads > 0) out << "reads " << row.reads;
  return out.str();
}

/// Describes a difference that exceeds `tolerance` times the largest expected number; "" if there
/// is no such difference.
std::string difference(const std::vector<float>& values, const std::vector<float>& expected,
                       double tolerance) {
  if (values.size() != expected.size()) {
    return std::to_string(values.size()) + " numbers instead of " + std::to_string(expected.size());
  }
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || !std::isfinite(expected[i]))
      return "numbers that are not finite";
    const double wanted = expected[i];
    largest = std::max(largest, std::abs(wanted));
    worst = std::max(worst, std::abs(static_cast<double>(values[i]) - wanted));
  }
  if (worst <= tolerance * largest) return "";
  std::ostringstream out;
  out << "by " << worst << "; the largest number is " << largest << ", the tolerance is "
      << tolerance * largest;
  return out.str();
}

/// Describes the first difference in results of several tensors.
std::string difference(const Tensors& values, const Tensors& expected, double tolerance) {
  if (values.size() != expected.size()) {
    return std::to_string(values.size()) + " tensors instead of " + std::to_string(expected.size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string problem = difference(values[i], expected[i], tolerance);
    if (!problem.empty()) return "in tensor " + std::to_string(i) + " " + problem;
  }
  return "";
}

}  // namespace

/// A peer that does a row's work, with the options and the way that it uses for this row.
struct Bench::Runner {
  const Peer* peer = nullptr;
  Options options;
  std::string way;
  std::vector<double> seconds = {};

  std::string settings() const {
    return way.empty() ? describe(options) : describe(options) + ", " + way;
  }
};

void Bench::leave_out(const std::string& name) {
  std::erase_if(peers_, [&name](const Peer& peer) { return peer.name == name; });
}

std::unique_ptr<Process> Bench::start(const Peer& peer, const Options& options) const {
  const std::vector<std::string> command{peer.program, std::to_string(plan_.seed),
                                         std::to_string(plan_.threads)};
  return std::make_unique<Process>(command, environment(options));
}

Process& Bench::process(const Peer& peer, const Options& options) {
  std::unique_ptr<Process>& found = processes_[{peer.name, options}];
  if (!found || !found->is_alive()) found = start(peer, options);
  return *found;
}

std::string Bench::ask(const Peer& peer, const Options& options, const std::string& line) {
  try {
    return process(peer, options).ask(line);
  } catch (const WorkerError& error) {
    throw WorkerError(peer.name + " (" + describe(options) + ") " + error.what());
  }
}

std::string Bench::about(const Peer& peer) {
  return ask(peer, peer.options.front(), "about").substr(6);
}

/// The way in which the peer will do the work; "" if it has only one way. Returns nullopt if it
/// cannot do the work.
std::optional<std::string> Bench::prepare(const Peer& peer, const Options& options,
                                          const std::string& work) {
  std::istringstream answer(ask(peer, options, "prepare " + work));
  std::string word;
  std::string way;
  answer >> word >> way;
  if (word != "ready") return std::nullopt;
  return way;
}

double Bench::time_once(const Peer& peer, const Options& options, const Effort& effort) {
  const std::string line = "time " + std::to_string(effort.milliseconds);
  const double seconds = std::stod(ask(peer, options, line).substr(8));
  process(peer, options).settle();
  return seconds;
}

double Bench::time(const Peer& peer, const std::string& work) {
  const Options& options = peer.options.front();
  prepare(peer, options, work);
  std::vector<double> seconds(static_cast<std::size_t>(plan_.effort.repetitions));
  for (double& each : seconds) each = time_once(peer, options, plan_.effort);
  return median(seconds);
}

Tensors Bench::result(const Peer& peer, const Options& options) {
  ask(peer, options, "result " + result_file_.path());
  process(peer, options).settle();
  std::ifstream file(result_file_.path(), std::ios::binary);
  const auto read = [&file](auto* to, std::size_t count) {
    return static_cast<bool>(
        file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof *to)));
  };
  Tensors tensors;
  for (std::uint64_t size = 0; read(&size, 1);) {
    tensors.emplace_back(size);
    if (!read(tensors.back().data(), size)) throw WorkerError(peer.name + " wrote half a result");
  }
  return tensors;
}

/// Prepares the peer with its fastest options. Returns nullopt if it cannot do the work.
std::optional<Bench::Runner> Bench::best_runner(const Peer& peer, const std::string& work,
                                                const Effort& effort) {
  std::optional<Runner> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Options& options : peer.options) {
    const std::optional<std::string> way = prepare(peer, options, work);
    if (!way) {
      if (best) ask(peer, best->options, "release");
      return std::nullopt;
    }
    if (peer.options.size() == 1) {
      best = Runner{&peer, options, *way};
      break;
    }
    double seconds = time_once(peer, options, effort);
    // Options that may be the fastest are timed twice. These times are not reported.
    if (seconds < 1.5 * least) seconds = std::min(seconds, time_once(peer, options, effort));
    const bool is_better = seconds < least;
    if (best || !is_better) ask(peer, is_better ? best->options : options, "release");
    if (!is_better) continue;
    least = seconds;
    best = Runner{&peer, options, *way};
  }
  // Prepares the work again, because the trials of options and ways have changed the parameters of
  // a training step.
  if (best) prepare(peer, best->options, best->way.empty() ? work : work + " " + best->way);
  return best;
}

/// Prepares all peers that can do the row and whose results agree with tend's.
void Bench::gather(const Row& row, const Effort& effort, std::vector<Runner>& runners,
                   Measurement& found) {
  Tensors expected;
  for (const Peer& peer : peers_) {
    try {
      const bool is_machine = peer.role == Role::limit && peer.name == "machine";
      const std::string work = is_machine ? limit_work(row) : row.work;
      if (work.empty() || (row.is_call && peer.is_kernels_only)) continue;
      const std::optional<Runner> runner = best_runner(peer, work, effort);
      if (!runner) {
        if (peer.role == Role::subject) return;  // tend cannot do this row
        continue;
      }
      if (!is_machine) {
        const Tensors values = result(peer, runner->options);
        if (peer.role == Role::subject) expected = values;
        const std::string problem = difference(values, expected, row.tolerance);
        if (!problem.empty()) throw WorkerError(peer.name + " differs from tend: " + problem);
      }
      runners.push_back(*runner);
    } catch (const WorkerError& error) {
      found.failures.push_back(row.name + ": " + error.what());
      if (peer.role == Role::subject) return;  // there is nothing to compare with
    }
  }
}

/// Times all runners in turn, once in each repetition.
void Bench::alternate(const Effort& effort, std::vector<Runner>& runners, Measurement& found) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < effort.repetitions; ++i) {
    for (auto runner = runners.begin(); runner != runners.end();) {
      try {
        runner->seconds.push_back(time_once(*runner->peer, runner->options, effort));
        ++runner;
      } catch (const WorkerError& error) {
        found.failures.push_back(found.row + ": " + error.what());
        runner = runners.erase(runner);
      }
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (spent.count() > kRowSeconds && !runners.empty() && runners[0].seconds.size() >= kEnough) {
      return;
    }
  }
}

/// Measures the peak memory in a new process, which has no memory of earlier rows. It uses the
/// command `time` instead of `result`, because `result` also copies the results.
void Bench::measure_memory(const Row& row, const Runner& runner, Measurement& found) {
  const std::unique_ptr<Process> fresh = start(*runner.peer, runner.options);
  fresh->ask("prepare " + row.work + " " + runner.way);
  fresh->ask("time 1");
  std::istringstream answer(fresh->ask("memory"));
  std::string word;
  Memory memory;
  answer >> word >> memory.resident >> memory.allocated;
  found.memory[runner.peer->name] = memory;
}

Measurement Bench::measure(const Row& row, const Effort& effort) {
  Measurement found;
  found.row = row.name;
  std::vector<Runner> runners;
  gather(row, effort, runners, found);
  alternate(effort, runners, found);
  for (const Runner& runner : runners) {
    const Peer& peer = *runner.peer;
    found.timings[peer.name] = {median(runner.seconds), runner.settings()};
    try {
      ask(peer, runner.options, "release");
      if (row.reports_memory && peer.role != Role::limit) {
        measure_memory(row, runner, found);
      }
    } catch (const WorkerError& error) {
      found.failures.push_back(row.name + ": " + error.what());
    }
  }
  return found;
}

}  // namespace compare
