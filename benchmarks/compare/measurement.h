// Runs a row in every worker: checks that all results agree, then times the workers in turn.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peers.h"
#include "process.h"
#include "rows.h"

namespace compare {

/// The result of a row's work, which is compared between libraries.
using Tensors = std::vector<std::vector<float>>;

struct Timing {
  double seconds = 0;
  std::string options;  ///< the environment, and the way that the worker uses
};

struct Memory {
  std::int64_t resident = 0;   ///< the largest growth of the process, in bytes
  std::int64_t allocated = 0;  ///< the peak bytes of tensors; 0 if the library does not count them
};

struct Measurement {
  std::string row;
  std::map<std::string, Timing> timings;  // by peer, including tend and the limits
  std::map<std::string, Memory> memory;
  std::vector<std::string> failures;  // wrong results and dead workers
};

/// How often and how long a row is measured.
struct Effort {
  int repetitions = 7;
  int milliseconds = 25;  ///< the least duration of a timing
};

struct Plan {
  Effort effort;
  std::uint64_t seed = 1;
  int threads = 1;
};

/// The processes of all peers, started when they are first needed.
class Bench {
 public:
  Bench(std::vector<Peer> peers, const Plan& plan) : peers_(std::move(peers)), plan_(plan) {}

  const std::vector<Peer>& peers() const noexcept { return peers_; }
  /// Removes the peer of this name.
  void leave_out(const std::string& name);
  /// The peer's description of itself.
  ///
  /// Throws: WorkerError - the worker does not start
  std::string about(const Peer& peer);
  /// Checks and times a row in all peers. Failures are in the result.
  Measurement measure(const Row& row) { return measure(row, plan_.effort); }
  Measurement measure(const Row& row, const Effort& effort);
  /// The time of one peer for a piece of work in seconds, as the median of the repetitions.
  double time(const Peer& peer, const std::string& work);

 private:
  struct Runner;

  Process& process(const Peer& peer, const Options& options);
  std::string ask(const Peer& peer, const Options& options, const std::string& line);
  std::optional<std::string> prepare(const Peer& peer, const Options& options,
                                     const std::string& work);
  double time_once(const Peer& peer, const Options& options, const Effort& effort);
  Tensors result(const Peer& peer, const Options& options);
  std::optional<Runner> best_runner(const Peer& peer, const std::string& work,
                                    const Effort& effort);
  void gather(const Row& row, const Effort& effort, std::vector<Runner>& runners,
              Measurement& found);
  void alternate(const Effort& effort, std::vector<Runner>& runners, Measurement& found);
  void measure_memory(const Row& row, const Runner& runner, Measurement& found);
  std::unique_ptr<Process> start(const Peer& peer, const Options& options) const;

  std::vector<Peer> peers_;
  Plan plan_;
  std::map<std::pair<std::string, Options>, std::unique_ptr<Process>> processes_;
  SharedFile result_file_;
};

}  // namespace compare
