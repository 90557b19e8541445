// The files that the training program reads and writes.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <tend/nn/files/safetensors.h>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

TEST_CASE("the file name none means that the file is not written") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1", "--json", "none", "--report", "none", "--checkpoint", "none"}),
              folder)
              .code == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a resumed run can overwrite its own checkpoint") {
  const TemporaryFolder folder;
  const std::string own = "checkpoint.safetensors";
  REQUIRE(run(small({"--steps", "2"}), folder).code == 0);
  REQUIRE(run({"--resume", own, "--steps", "4", "--checkpoint", own, "--json", "r.json"}, folder)
              .code == 0);
  CHECK(results(folder).at("steps") == 4);
}

TEST_CASE("the program exits with 1 for files that it cannot use") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("noise")) << "not a checkpoint";
  std::ofstream(folder.file("short")) << "too short";
  const auto [arguments, message] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--resume", "nowhere"}, "nowhere"},
      {{"--resume", "noise"}, "noise"},
      {{"--text", "nowhere"}, "cannot read nowhere: No such file"},
      {{"--text", "short"}, "a text of 9 bytes is too short"},
      {{"--report", "no/such/folder/r.html"}, "cannot write no/such/folder/r.html"},
  }));
  const Ended ended = run(arguments, folder);
  CAPTURE(ended.output);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring(message));
}

TEST_CASE("a result that cannot be written is reported and the others are written") {
  const TemporaryFolder folder;
  for (const std::string broken : {"--checkpoint", "--report", "--json"}) {
    const TemporaryFolder inner;
    std::map<std::string, std::string> files{{"--checkpoint", inner.file("c")},
                                             {"--report", inner.file("r")},
                                             {"--json", inner.file("j")}};
    files[broken] = "/dev/full";
    std::vector<std::string> words{"--steps", "2"};
    for (const auto& [option, file] : files) words.insert(words.end(), {option, file});
    const Ended ended = run(small(words), folder);
    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, ContainsSubstring("/dev/full"));
    CHECK_THAT(ended.output, ContainsSubstring("samples, decoded greedily"));
    CHECK(std::distance(std::filesystem::directory_iterator(inner.path()), {}) == 2);
    for (const auto& [option, file] : files) {
      const bool said = ended.output.find("wrote " + file) != std::string::npos;
      CHECK(said == (option != broken));
    }
  }
}
