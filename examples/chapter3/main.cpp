// Walks the road of the five notebooks, from one dot product to multi-head attention, and prints
// every step as PyTorch does.
#include <exception>
#include <iostream>

#include <tend/nn/files/write_file.h>

#include "examples/program.h"
#include "walk.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Attention from a dot product to multi-head attention, with every number of the five "
      "notebooks.");
  std::string json_path;
  int threads = 0;
  std::uint64_t seed = 0;
  program::add_file(app, "--json", json_path, "write every step's value to this file");
  program::add_threads(app, threads);
  program::add_whole(app, "--seed", seed,
                     "accepted for uniformity: the notebooks name their own seeds");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program::end_of_parsing("chapter3", app, error);
  }
  try {
    if (threads > 0) tend::set_num_threads(threads);
    if (!json_path.empty()) tend::nn::check_can_write(json_path);
    chapter3::Walk walk(std::cout);
    chapter3::walk_seed_000(walk);
    chapter3::walk_seed_001(walk);
    chapter3::walk_seed_002(walk);
    chapter3::walk_seed_003(walk);
    chapter3::walk_seed_004(walk);
    std::cout.flush();  // before a file that may be standard output, too
    if (!json_path.empty()) tend::nn::write_file(json_path, chapter3::to_json(walk.steps()));
    return program::end("chapter3", 0);
  } catch (const std::exception& error) {
    std::cerr << "chapter3: " << error.what() << '\n';
    return 1;
  }
}
