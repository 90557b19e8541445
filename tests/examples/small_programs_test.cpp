// Runs the small examples as a user does, at a small size. Each must learn its task.
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"

#include <tend/tend.h>
#ifdef TEND_HAS_ARCHIVES
#include <tend/nn/archives/pt.h>
#endif

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

// The results that the program writes with --json. The program must exit with 0.
nlohmann::json results_of(const std::string& program, std::vector<std::string> words,
                          const TemporaryFolder& folder) {
  words.insert(words.end(), {"--json", "r.json"});
  const Ended ended = run_program(TEND_EXAMPLES "/" + program, words, folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  return nlohmann::json::parse(content(folder.file("r.json")));
}

// An IDX file of bytes.
void write_idx(const std::string& path, const std::vector<std::int64_t>& shape,
               const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << '\0' << '\0' << '\x08' << static_cast<char>(shape.size());
  for (const std::int64_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) file << static_cast<char>(size >> shift & 255);
  }
  file << bytes;
}

// Writes pictures of two kinds. Either the upper or the lower half is brighter.
void write_pictures(const TemporaryFolder& folder, const std::string& name, std::int64_t count) {
  std::string pixels, kinds;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_upper = i % 3 == 0;
    kinds += is_upper ? '\1' : '\4';
    for (std::int64_t p = 0; p < 28 * 28; ++p)
      pixels += static_cast<char>((p < 14 * 28) == is_upper ? 200 - i * p % 40 : i * p % 40);
  }
  write_idx(folder.file(name + "-images-idx3-ubyte"), {count, 28, 28}, pixels);
  write_idx(folder.file(name + "-labels-idx1-ubyte"), {count}, kinds);
}

}  // namespace

TEST_CASE("two_moons separates the moons") {
  const TemporaryFolder folder;
  const auto r = results_of("two_moons", {"--steps", "200"}, folder);
  CHECK(r.at("share_right") > 0.97);  // a straight line gets 0.88
}

TEST_CASE("custom_operation checks its derivatives and learns a sine") {
  const TemporaryFolder folder;
  const auto r = results_of("custom_operation", {}, folder);
  CHECK(r.at("first_right") == true);
  CHECK(r.at("second_right") == true);
  CHECK(r.at("loss") < 0.005);  // the mean square of sin is 0.5
}

TEST_CASE("lora learns another alphabet with a small part of the weights") {
  const TemporaryFolder folder;
  const auto r = results_of("lora", {"--steps", "150"}, folder);
  CHECK(r.at("learnt") < 0.1);
  CHECK(r.at("before") > 3);
  CHECK(r.at("after") < 0.5);
  CHECK(std::abs(r.at("merged").get<double>() - r.at("after").get<double>()) < 0.1);
  CHECK(r.at("trainable").get<int>() * 5 < r.at("parameters").get<int>());
}

TEST_CASE("dates are translated letter by letter") {
  const TemporaryFolder folder;
  const auto r = results_of("dates", {"--steps", "250"}, folder);
  CHECK(r.at("loss") < 1.2);  // 2.3 if the model only learns to write digits
  CHECK(results_of("dates", {"--steps", "3", "--seed", "4"}, folder).at("seed") == 4);
}

TEST_CASE("fashion learns from patches of pictures") {
  const TemporaryFolder folder;
  write_pictures(folder, "train", 200);
  write_pictures(folder, "t10k", 60);
  const auto r = results_of("fashion", {"--data", ".", "--steps", "30", "--batch", "20"}, folder);
  CHECK(r.at("share_right") == 1);
  const Ended ended = run_program(TEND_EXAMPLES "/fashion", {"--data", "/nowhere"}, folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("train-images-idx3-ubyte"));
}

#ifdef TEND_HAS_ARCHIVES
TEST_CASE("load_pt continues the training of a .pt file and writes it back") {
  using namespace tend;
  const TemporaryFolder folder;
  manual_seed(3);
  const nn::Sequential model{nn::Linear(3, 16), nn::Tanh(), nn::Linear(16, 1)};
  nn::save_pt(folder.file("model.pt"), nn::PtDict{{"model", model.state_dict()}});
  const auto r = results_of(
      "load_pt", {"--weights", "model.pt", "--save", "trained.pt", "--steps", "400"}, folder);
  CHECK(r.at("last_loss") < 0.3 * r.at("first_loss").get<double>());
  const auto again = results_of("load_pt", {"--weights", "trained.pt", "--steps", "1"}, folder);
  // The second run starts with the weights after the last step of the first run.
  CHECK(again.at("first_loss") == r.at("last_loss"));
  const Ended ended = run_program(TEND_EXAMPLES "/load_pt", {"--weights", "r.json"}, folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("r.json"));
}
#endif
