// Walks the road of the five notebooks, from one dot product to multi-head attention, and prints
// every step as PyTorch does.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "walk.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Attention from a dot product to multi-head attention, with every number of the five "
      "notebooks.");
  std::string json_path;
  int threads = 0;
  std::uint64_t seed = 0;
  app.add_option("--json", json_path, "write every step's value to this file");
  app.add_option("--threads", threads, "threads to use (default: all cores)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "accepted for uniformity: the notebooks name their own seeds");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (threads > 0) tend::set_num_threads(threads);
    chapter3::Walk walk(std::cout);
    chapter3::walk_seed_000(walk);
    chapter3::walk_seed_001(walk);
    chapter3::walk_seed_002(walk);
    chapter3::walk_seed_003(walk);
    chapter3::walk_seed_004(walk);
    if (!json_path.empty()) {
      std::ofstream file(json_path);
      if (!(file << chapter3::to_json(walk.steps()) << std::flush)) {
        throw tend::IoError("chapter3: cannot write " + json_path);
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
