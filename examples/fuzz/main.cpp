// Random programs, run here and in PyTorch.
#include <algorithm>
#include <chrono>
#include <iostream>

#include <tend/nn/training/progress_line.h>
#include <tend/tend.h>

#include "campaign.h"
#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

struct Options {
  std::string kind = "tensors";
  std::uint64_t seed = 1;
  std::uint64_t programs = 1000;
  double seconds = 0;
  fuzz::Torch torch{.script = TEND_FUZZ_SCRIPT};
  std::string json_path;
  std::string store_path;
  bool show = false;
};

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
  tend::nn::ProgressLine progress;
  const auto start = Clock::now();
  for (;;) {
    const std::uint64_t done = campaign.programs();
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if (options.seconds > 0 ? elapsed >= options.seconds : done >= options.programs) break;
    const std::uint64_t count =
        options.seconds > 0 ? kBatch : std::min(kBatch, options.programs - done);
    campaign.run(options.seed + done, count, options.torch);
    progress.show_when_due(tend::as_text(campaign.programs(), " programs, ",
                                         campaign.findings().size(), " differences"));
  }
}

int run(const Options& options) {
  const auto campaign = options.kind == "leaves" ? fuzz::leaf_campaign() : fuzz::tensor_campaign();
  if (options.show) {
    std::cout << campaign->show(options.seed);
    return 0;
  }
  program::check_differ("--json", options.json_path, "--store", options.store_path);
  program::check_differ("--json", options.json_path, "--script", options.torch.script);
  program::check_differ("--store", options.store_path, "--script", options.torch.script);
  program::check_can_write(options.json_path);
  program::check_can_write(options.store_path);
  run_all(*campaign, options);
  for (const fuzz::Finding& each : campaign->findings()) {
    std::cout << "seed " << each.seed << ": " << each.text << '\n';
  }
  const json found = report(*campaign, options);
  std::cout << found.dump(1) << '\n';
  program::write_results(options.json_path, [&] { return found.dump(); });
  program::write_results(options.store_path, [&] { return campaign->stored().dump(); });
  return campaign->findings().empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "fuzz",
      "Writes random programs, runs them here and in PyTorch, and compares. Programs over tensors "
      "are 1 to 20 operations, of which values, gradients and second derivatives are compared; "
      "programs over leaves train, reshape and hook tensors, which are compared after every "
      "statement, and look for traces of calls that failed. Exits with 1 when one differs.");
  Options options;
  line.add_choice("--kind", options.kind, "what the programs are about: tensors or leaves",
                  {"tensors", "leaves"});
  line.add_whole("--seed", options.seed, "of the first program; the next has the next seed")
      .default_text("1");
  line.add_whole("--programs", options.programs, "how many").default_text("1000");
  line.add_number("--seconds", options.seconds, "run as long as this instead", 0);
  line.add_text("--python", options.torch.python, "the command of a Python that has torch")
      .default_text(options.torch.python);
  line.add_text("--script", options.torch.script, "torch_run.py as that Python finds it")
      .default_text(options.torch.script);
  line.add_threads();
  line.add_file("--json", options.json_path, "write what was found to this file");
  line.add_file("--store", options.store_path,
                "write PyTorch's results to this file (tests/data/fuzz.json, fuzz_leaves.json)");
  line.add_flag("--show", options.show, "print the program of --seed as Python, and stop");
  return line.run(argc, argv, [&] { return run(options); });
}
