// Checkpoints of the training program: resuming from them, and refusing damaged ones.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <tend/nn/training/run_state.h>
#include <tend/tend.h>

#include <nlohmann/json.hpp>

#include "examples/train/run/checkpoint.h"
#include "examples/train/run/history.h"
#include "examples/train/run/options.h"
#include "tests/catch.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

TEST_CASE("after Ctrl-C or SIGTERM a run resumes as if it had not been interrupted") {
  const TemporaryFolder folder;
  const int signal = GENERATE(SIGINT, SIGTERM);
  Process process(kProgram, small({"--steps", "2000", "--json", "r.json"}), folder.path());
  REQUIRE(process.wait_for("parameters"));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  process.send(signal);
  CHECK(process.wait() == 128 + signal);
  const std::size_t done = results(folder).at("steps");
  CHECK(done < 2000);
  CHECK(results(folder).at("losses").size() == done);
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("of 2\u202F000 steps"));

  const Ended resumed = run({"--resume", "checkpoint.safetensors", "--json", "r.json"}, folder);
  CAPTURE(resumed.output);
  REQUIRE(resumed.code == 0);
  CHECK_THAT(resumed.output, ContainsSubstring("continuing from step " + std::to_string(done)));
  REQUIRE(run(small({"--steps", "2000", "--json", "whole.json", "--checkpoint", "whole", "--report",
                     "none"}),
              folder)
              .code == 0);
  const nlohmann::json whole = results(folder, "whole.json");
  CHECK(results(folder).at("losses") == whole.at("losses"));
  CHECK(results(folder).at("exact_match") == whole.at("exact_match"));
  const bool same_state =
      state_of(folder.file("checkpoint.safetensors")) == state_of(folder.file("whole"));
  CHECK(same_state);

  const std::string before = content(folder.file("checkpoint.safetensors"));
  const Ended backwards = run({"--resume", "checkpoint.safetensors", "--steps", "10"}, folder);
  CHECK(backwards.code == 2);
  CHECK_THAT(backwards.output, ContainsSubstring("at step 2000, beyond --steps 10"));
  CHECK(content(folder.file("checkpoint.safetensors")) == before);
}

TEST_CASE("a run whose check fails continues like a run that is resumed with twice the steps") {
  const TemporaryFolder folder;
  const auto train = [&](const std::vector<std::string>& words) {
    const Ended ended = run(words, folder);
    CAPTURE(ended.output);
    REQUIRE(ended.code == 0);
    return ended.output;
  };
  const std::string told = train(small({"--steps", "20", "--max-steps", "70", "--save-every", "1",
                                        "--keep", "70", "--out", "a", "--json", "r"}));
  CHECK_THAT(told, ContainsSubstring("20 steps of 4 sequences, up to 70 while a check"));
  CHECK_THAT(told, ContainsSubstring("check after step 40: 0 % of other held-out answers right, "
                                     "so the run continued\n"));
  const nlohmann::json whole = results(folder, "a/r");
  CHECK(whole.at("steps") == 70);
  CHECK(whole.at("settings").at("steps") == 20);
  CHECK(whole.at("settings").at("max_steps") == 70);
  REQUIRE(whole.at("checks").size() == 2);  // none after step 70, because the run ends anyway
  CHECK(whole.at("checks").at(0).at("step") == 20);
  CHECK(whole.at("checks").at(1).at("step") == 40);
  CHECK(whole.at("checks").at(1).at("exact_match") < 1);

  train(small({"--steps", "20", "--out", "b"}));
  train({"--resume", "b/checkpoint.safetensors", "--steps", "40", "--out", "b"});
  train({"--resume", "b/checkpoint.safetensors", "--steps", "70", "--out", "b", "--json", "r"});
  CHECK(results(folder, "b/r").at("losses") == whole.at("losses"));

  const auto state = state_of(folder.file("a/checkpoint.safetensors"));
  for (const std::string step : {"19", "20", "21", "40", "63"}) {
    CAPTURE(step);
    train({"--resume", "a/step-000000" + step + ".safetensors", "--save-every", "1", "--out",
           "to" + step});
    const bool same_state = state_of(folder.file("to" + step + "/checkpoint.safetensors")) == state;
    CHECK(same_state);
  }
}

TEST_CASE("train models a text of any bytes and resumes only with the same text") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>(i * i % 251 + i % 3);
  std::ofstream(folder.file("text"), std::ios::binary) << text;
  std::ofstream(folder.file("other"), std::ios::binary) << text << '!';
  const Ended ended = run({"--text", "text", "--length", "16", "--layers", "1", "--width", "8",
                           "--steps", "10", "--json", "r.json"},
                          folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const nlohmann::json r = results(folder);
  CHECK(r.at("task") == "text");
  CHECK(r.at("validation_loss") > 0);
  // 2000 / 10 bytes are not a multiple of 16, but all of them are evaluated.
  CHECK_THAT(ended.output, ContainsSubstring(" of 200 bytes right"));
  CHECK(r.at("best_head").at("pattern") == "previous token");
  const std::string page = content(folder.file("report.html"));
  CHECK(page.find('\0') == std::string::npos);
  CHECK(run({"--resume", "checkpoint.safetensors", "--steps", "12"}, folder).code == 0);
  const Ended refused = run({"--resume", "checkpoint.safetensors", "--text", "other"}, folder);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, ContainsSubstring("was trained on another text"));
}

TEST_CASE("a checkpoint has the weights under the model's names") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1"}), folder).code == 0);
  const tend::nn::Safetensors file =
      tend::nn::load_safetensors(folder.file("checkpoint.safetensors"));
  const auto has = [&file](const std::string& name) {
    return std::any_of(file.tensors.begin(), file.tensors.end(),
                       [&](const auto& entry) { return entry.first == name; });
  };
  CHECK(has("blocks.0.attention.W_query.weight"));
  CHECK(has("head.weight"));
  CHECK(nlohmann::json::parse(file.metadata.at("settings")).at("steps") == 1);
}

TEST_CASE("a checkpoint is refused if any of its bytes has changed") {
  const TemporaryFolder folder;
  REQUIRE(run({"--length", "2", "--width", "1", "--batch", "1", "--steps", "1"}, folder).code == 0);
  const std::string whole = content(folder.file("checkpoint.safetensors"));
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof header);
  const std::size_t begin = whole.find_last_not_of(' ', 8 + header - 1) + 1;
  const auto refuses = [&](std::size_t place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    std::ofstream(folder.file("damaged"), std::ios::binary) << damaged;
    try {
      train::Checkpoint checkpoint(folder.file("damaged"));
      return false;
    } catch (const std::exception&) {
      return true;
    }
  };
  for (std::size_t place = 0; place < begin; place += place < 24 ? 1 : 31) {
    INFO(place << ": " << whole.substr(place, 20));
    CHECK(refuses(place));
  }
  for (std::size_t place = 8 + header; place < whole.size(); place += 4999) {
    INFO(place);
    CHECK(refuses(place));
  }
  const Ended ended = [&] {
    std::string damaged = whole;
    damaged.back() = static_cast<char>(damaged.back() ^ 64);
    std::ofstream(folder.file("damaged"), std::ios::binary) << damaged;
    return run({"--resume", "damaged"}, folder);
  }();
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("\"damaged\" is damaged: its checksum"));
}

TEST_CASE("a checkpoint of another vocabulary or other sizes is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint.safetensors");
  REQUIRE(run(small({"--steps", "2"}), folder).code == 0);
  const auto whole = tend::nn::load_run(path).metadata;
  const nlohmann::json sizes = nlohmann::json::parse(whole.at("sizes"));
  CHECK(sizes.at("vocabulary") == 11);
  CHECK(sizes.at("context") == 8);
  CHECK(nlohmann::json::parse(whole.at("vocabulary")).at(10) == "→");
  const train::Options options = train::options_from_json(whole.at("settings"));
  train::Processes alone;
  train::Training training(options, train::make_task(options.task, options.length), alone);
  const auto refusal = [&](const std::string& name) {
    auto settings = whole;
    settings[name] = "[]";
    training.trainer.state.save(path, settings);
    const Ended ended = run({"--resume", "checkpoint.safetensors", "--steps", "3"}, folder);
    CHECK(ended.code == 1);
    return ended.output;
  };
  for (const std::string name : {"vocabulary", "sizes"})
    CHECK_THAT(refusal(name), ContainsSubstring("has another " + name + ": [], not"));
  CHECK_THAT(refusal("text"), ContainsSubstring("was trained on another text"));
  CHECK_THAT(refusal("format"), ContainsSubstring("was not written by this version of train"));
}

TEST_CASE("invalid histories are refused and change nothing") {
  const auto numbers = [](const std::vector<double>& values, const tend::Shape& shape) {
    return tend::tensor(values, shape, tend::float64);
  };
  const tend::nn::StateDict good{{"losses", numbers({3, 2}, {2})},
                                 {"validations", numbers({1, 3, 0.5}, {3})},
                                 {"heads", numbers({1, 0.5, 0.25, 2}, {1, 1, 4})},
                                 {"checks", numbers({2, 0.5}, {2})},
                                 {"seconds", numbers({1, 2}, {2})}};
  train::History history;
  history.load_state_dict(good);
  const tend::nn::StateDict again = history.state_dict();
  for (const auto& [name, tensor] : good) {
    CHECK(again.at(name).shape() == tensor.shape());
    CHECK(again.at(name).to_vector<double>() == tensor.to_vector<double>());
  }
  const auto refuses = [&](const std::string& name, const tend::Tensor& tensor) {
    tend::nn::StateDict bad = good;
    bad[name] = tensor;
    CAPTURE(name);
    CHECK_THROWS_AS(history.load_state_dict(bad), tend::Error);
    CHECK(history.losses == std::vector<double>{3, 2});
    bad.erase(name);
    CHECK_THROWS_AS(history.load_state_dict(bad), tend::Error);
  };
  refuses("losses", tend::zeros({2}));
  refuses("validations", numbers({1, 3}, {2}));
  refuses("validations", numbers({-1, 3, 0.5}, {3}));
  refuses("heads", numbers({1, 0.5}, {1, 1, 2}));
  refuses("heads", numbers({1, 0.5, 2}, {3}));
  refuses("heads", numbers({0, 0.5, 2}, {1, 1, 3}));
  refuses("checks", numbers({NAN, 0.5}, {2}));
  refuses("seconds", numbers({1, 2, 3, 4}, {4}));
  refuses("seconds", tend::Tensor());
}

TEST_CASE("settings that are missing, of another type or out of range are refused") {
  const train::Options options = train::default_options("recall");
  const nlohmann::json json = nlohmann::json::parse(train::options_to_json(options));
  CHECK(nlohmann::json::parse(train::options_to_json(train::options_from_json(json.dump()))) ==
        json);
  const auto check_refused = [](const std::string& text, const std::string& why) {
    INFO(text);
    CHECK_THROWS_WITH(train::options_from_json(text), ContainsSubstring(why));
  };
  const auto with = [&](const std::string& name, const nlohmann::json& value) {
    nlohmann::json changed = json;
    changed[name] = value;
    return changed.dump();
  };
  for (const auto& [name, value] : json.items()) {
    check_refused(with(name, nlohmann::json::array()), "the settings cannot be used");
    nlohmann::json missing = json;
    missing.erase(name);
    check_refused(missing.dump(), "key '" + name + "' not found");
  }
  check_refused(with("layers", 1'000'000), "--layers must be from 1 to 1024");
  check_refused(with("rate", -1), "--rate must be above 0");
  check_refused("{", "the settings cannot be used");
}
