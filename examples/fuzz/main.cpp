// Random programs, run here and in PyTorch.
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>

#include <tend/nn/write_file.h>

#include "catalogue.h"
#include "comparison.h"
#include "examples/program.h"
#include "examples/progress_line.h"

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t programs = 1000;
  double seconds = 0;
  int threads = 0;
  std::string python = "python3";
  std::string json_path;
  std::string store_path;
  bool show = false;
};

struct Finding {
  std::uint64_t seed;
  std::string text;
};

struct Tally {
  std::uint64_t programs = 0, steps = 0, compared = 0, refused = 0, wild = 0, torch_refused = 0;
  std::vector<std::uint64_t> stricter;  // seeds of those refused here, and not in PyTorch
  std::vector<Finding> findings;
  std::vector<std::uint64_t> not_finite_in_torch;
  json stored = json::array();
};

// Whether PyTorch refuses an in-place write, or a backward because of one: it keeps other tensors
// than tend, and its results may share elements that tend's do not.
bool is_about_writes(const std::string& error) {
  return error.find("inplace operation") != std::string::npos ||
         error.find("written-to tensor") != std::string::npos;
}

// Runs a batch in both and adds what was found.
void compare(const std::vector<fuzz::Program>& programs, const Options& options, Tally& tally) {
  const auto references = fuzz::run_in_torch(programs, options.python, TEND_FUZZ_SCRIPT);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const fuzz::Program& program = programs[i];
    const fuzz::Outcome outcome = program.run();
    ++tally.programs;
    tally.steps += program.operations().size();
    if (outcome.kind == fuzz::Outcome::Kind::wild) {
      ++tally.wild;
      // NaN here must be NaN there, and large here large there.
      const double size = fuzz::largest_magnitude(references[i].outcome);
      if (references[i].error.empty() && size < 100) {
        tally.findings.push_back({program.seed(), "numbers are huge or NaN here only"});
      }
    } else if (outcome.kind == fuzz::Outcome::Kind::refused) {
      ++tally.refused;
      if (references[i].error.empty()) tally.stricter.push_back(program.seed());
    } else if (!references[i].error.empty()) {
      ++tally.torch_refused;
      if (!is_about_writes(references[i].error))
        tally.findings.push_back({program.seed(), references[i].error});
    } else if (std::isnan(fuzz::largest_magnitude(references[i].outcome))) {
      tally.not_finite_in_torch.push_back(program.seed());
    } else {
      ++tally.compared;
      const auto text = fuzz::difference(program, outcome, references[i].outcome);
      if (text) tally.findings.push_back({program.seed(), *text});
      tally.stored.push_back({{"seed", program.seed()},
                              {"fingerprint", fuzz::fingerprint(program)},
                              {"outcome", fuzz::to_json(references[i].outcome)}});
    }
  }
}

void write_json(const std::string& path, const json& value) {
  std::cout.flush();  // before a file that may be standard output, too
  tend::nn::write_file(path, value.dump() + '\n');
}

json report(const Tally& tally, const Options& options) {
  json findings = json::array();
  for (const Finding& each : tally.findings) {
    findings.push_back({{"seed", each.seed}, {"difference", each.text}});
  }
  return {{"first_seed", options.seed},
          {"programs", tally.programs},
          {"operations", tally.steps},
          {"compared", tally.compared},
          {"refused", tally.refused},
          {"refused_here_only", tally.stricter},
          {"refused_by_torch", tally.torch_refused},
          {"too_large", tally.wild},
          {"not_finite_in_torch_only", tally.not_finite_in_torch},
          {"differences", findings}};
}

int run(const Options& options) {
  if (options.threads > 0) tend::set_num_threads(options.threads);
  if (options.show) {
    std::cout << fuzz::Program(options.seed).python();
    return 0;
  }
  for (const std::string& file : {options.json_path, options.store_path}) {
    if (!file.empty()) tend::nn::check_can_write(file);
  }
  using Clock = std::chrono::steady_clock;
  const auto elapsed = [start = Clock::now()] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr std::uint64_t kBatch = 250;
  program::ProgressLine progress;
  Tally tally;
  const auto is_done = [&] {
    return options.seconds > 0 ? elapsed() >= options.seconds : tally.programs >= options.programs;
  };
  while (!is_done()) {
    std::vector<fuzz::Program> batch;
    while (batch.size() < kBatch &&
           (options.seconds > 0 || tally.programs + batch.size() < options.programs)) {
      batch.emplace_back(options.seed + tally.programs + batch.size());
    }
    compare(batch, options, tally);
    progress.show_when_due(
        tend::concat(tally.programs, " programs, ", tally.findings.size(), " differences"));
  }
  progress.clear();
  for (const Finding& each : tally.findings) {
    std::cout << "seed " << each.seed << ": " << each.text << '\n';
  }
  std::cout << report(tally, options).dump(1) << '\n';
  if (!options.json_path.empty()) write_json(options.json_path, report(tally, options));
  if (!options.store_path.empty()) write_json(options.store_path, tally.stored);
  return tally.findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Writes random programs of 1 to 20 tensor operations, runs them here and in PyTorch, and "
      "compares values, gradients and second derivatives. Exits with 1 when one differs.");
  Options options;
  program::add_whole(app, "--seed", options.seed,
                     "of the first program; the next has the next seed")
      ->default_str("1");
  program::add_whole(app, "--programs", options.programs, "how many")->default_str("1000");
  program::add_number(app, "--seconds", options.seconds, "run as long as this instead", 0);
  app.add_option("--python", options.python, "the command of a Python that has torch")
      ->capture_default_str();
  program::add_threads(app, options.threads);
  program::add_file(app, "--json", options.json_path, "write what was found to this file");
  program::add_file(app, "--store", options.store_path,
                    "write PyTorch's results to this file (tests/data/fuzz.json)");
  app.add_flag("--show", options.show, "print the program of --seed as Python, and stop");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program::end_of_parsing("fuzz", app, error);
  }
  try {
    return program::end("fuzz", run(options));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
