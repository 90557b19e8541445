// Random programs, run here and in PyTorch.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include <tend/tend.h>

#include "campaign.h"

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

struct Options {
  std::string kind = "tensors";
  std::uint64_t seed = 1;
  std::uint64_t programs = 1000;
  double seconds = 0;
  int threads = 0;
  fuzz::Torch torch{.script = TEND_FUZZ_SCRIPT};
  std::string json_path;
  std::string store_path;
  bool show = false;
};

void write_json(const std::string& path, const json& value) {
  std::ofstream file(path);
  if (!(file << value.dump() << '\n' << std::flush)) {
    throw tend::IoError("fuzz: cannot write " + path);
  }
}

json report(const fuzz::Campaign& campaign, const Options& options) {
  json findings = json::array();
  for (const fuzz::Finding& each : campaign.findings()) {
    findings.push_back({{"seed", each.seed}, {"difference", each.text}});
  }
  json all = campaign.counts();
  all.update({{"kind", options.kind},
              {"first_seed", options.seed},
              {"programs", campaign.programs()},
              {"differences", findings}});
  return all;
}

// Batches until the number of programs, or the time, is reached.
void run_all(fuzz::Campaign& campaign, const Options& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kBatch = 250;
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto start = Clock::now();
  for (;;) {
    const std::uint64_t done = campaign.programs();
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if (options.seconds > 0 ? elapsed >= options.seconds : done >= options.programs) break;
    const std::uint64_t count =
        options.seconds > 0 ? kBatch : std::min(kBatch, options.programs - done);
    campaign.run(options.seed + done, count, options.torch);
    if (terminal) {
      std::fprintf(stderr, "\r%llu programs, %zu differences",
                   static_cast<unsigned long long>(campaign.programs()),
                   campaign.findings().size());
    }
  }
  if (terminal) std::fputs("\r\x1b[K", stderr);
}

int run(const Options& options) {
  if (options.threads > 0) tend::set_num_threads(options.threads);
  const auto campaign = options.kind == "leaves" ? fuzz::leaf_campaign() : fuzz::tensor_campaign();
  if (options.show) {
    std::cout << campaign->show(options.seed);
    return 0;
  }
  run_all(*campaign, options);
  for (const fuzz::Finding& each : campaign->findings()) {
    std::cout << "seed " << each.seed << ": " << each.text << '\n';
  }
  const json found = report(*campaign, options);
  std::cout << found.dump(1) << '\n';
  if (!options.json_path.empty()) write_json(options.json_path, found);
  if (!options.store_path.empty()) write_json(options.store_path, campaign->stored());
  return campaign->findings().empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Writes random programs, runs them here and in PyTorch, and compares. Programs over tensors "
      "are 1 to 20 operations, of which values, gradients and second derivatives are compared; "
      "programs over leaves train, reshape and hook tensors, which are compared after every "
      "statement, and look for traces of calls that failed. Exits with 1 when one differs.");
  Options options;
  app.add_option("--kind", options.kind, "what the programs are about: tensors or leaves")
      ->check(CLI::IsMember({"tensors", "leaves"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the first program; the next has the next seed")
      ->capture_default_str();
  app.add_option("--programs", options.programs, "how many")->capture_default_str();
  app.add_option("--seconds", options.seconds, "run as long as this instead");
  app.add_option("--python", options.torch.python, "the command of a Python that has torch")
      ->capture_default_str();
  app.add_option("--script", options.torch.script, "torch_run.py as that Python finds it")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads to use (default: all cores)")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", options.json_path, "write what was found to this file");
  app.add_option("--store", options.store_path,
                 "write PyTorch's results to this file (tests/data/fuzz.json, fuzz_leaves.json)");
  app.add_flag("--show", options.show, "print the program of --seed as Python, and stop");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
