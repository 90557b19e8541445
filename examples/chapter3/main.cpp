// Follows five PyTorch notebooks from one dot product to multi-head attention, and prints every
// step as PyTorch does.
#include <iostream>
#include <string>

#include "examples/program.h"
#include "walk.h"

namespace {

int run(const std::string& json_path) {
  program::check_can_write(json_path);
  chapter3::Walk walk(std::cout);
  chapter3::walk_seed_000(walk);
  chapter3::walk_seed_001(walk);
  chapter3::walk_seed_002(walk);
  chapter3::walk_seed_003(walk);
  chapter3::walk_seed_004(walk);
  program::write_results(json_path, [&] { return chapter3::to_json(walk.steps()); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "chapter3",
      "Attention from a dot product to multi-head attention, with every number of the five "
      "notebooks.");
  std::string json_path;
  std::uint64_t seed = 0;
  line.add_file("--json", json_path, "write the value of every step to this file");
  line.add_threads();
  line.add_whole("--seed", seed,
                 "not used, because the notebooks set their own seeds; all programs accept it");
  return line.run(argc, argv, [&] { return run(json_path); });
}
