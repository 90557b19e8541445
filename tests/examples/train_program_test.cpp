// Tests what a run of the training program prints, computes and writes.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <tend/nn/files/safetensors.h>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

TEST_CASE("a training writes results, a report and a checkpoint") {
  const TemporaryFolder folder;
  const Ended ended = run(small({"--steps", "20", "--seed", "3", "--json", "r.json"}), folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const nlohmann::json r = results(folder);
  CHECK(r.at("task") == "reverse");
  CHECK(r.at("seed") == 3);
  CHECK(r.at("steps") == 20);
  CHECK(r.at("losses").size() == 20);
  CHECK(r.at("losses").at(0) == Approx(2.3).margin(0.3));  // about log(10), for ten digits
  CHECK(r.at("seconds") > 0);
  CHECK(r.at("tokens_per_second") > 0);
  CHECK(r.at("exact_match") >= 0);
  CHECK(r.at("exact_match") <= 1);
  const nlohmann::json& best = r.at("best_head");
  CHECK(best.at("pattern") == "mirrored diagonal");
  CHECK(best.at("layer") == 1);
  CHECK(best.at("head") == 1);
  CHECK(best.at("mean_weight") > 0);
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("</html>"));
  CHECK(std::filesystem::exists(folder.file("checkpoint.safetensors")));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 3);
}

TEST_CASE("the losses are the same for any number of threads") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "10", "--threads", "1", "--json", "a.json", "--overwrite"}), folder)
              .code == 0);
  REQUIRE(run(small({"--steps", "10", "--threads", "3", "--json", "b.json", "--overwrite"}), folder)
              .code == 0);
  REQUIRE(run(small({"--steps", "10", "--seed", "1", "--json", "c.json", "--overwrite"}), folder)
              .code == 0);
  CHECK(results(folder, "a.json").at("losses") == results(folder, "b.json").at("losses"));
  CHECK(results(folder, "a.json").at("losses") != results(folder, "c.json").at("losses"));
}

TEST_CASE("a run whose loss is not finite exits with 1 and keeps its last sound checkpoint") {
  const TemporaryFolder folder;
  // Each step multiplies the weights by about -29. A validation follows every fourth step.
  const Ended ended =
      run(small({"--weight-decay", "10000", "--warmup", "0", "--steps", "64", "--json", "r.json"}),
          folder);
  CAPTURE(ended.output);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("a lower --rate may help"));
  const nlohmann::json r = results(folder);
  const std::size_t lasted = r.at("losses").size();
  const std::size_t sound = r.at("steps");
  CHECK(sound > 0);
  CHECK(sound < lasted);
  CHECK(lasted < 64);
  CHECK_THAT(r.at("failure"),
             Catch::Matchers::StartsWith("step " + std::to_string(lasted + 1) + " has the loss "));
  CHECK(r.at("validation_loss").is_number());  // NaN would be null
  CHECK_THAT(content(folder.file("report.html")),
             ContainsSubstring("Ended after " + std::to_string(lasted) + " of 64 steps: step "));
  const Ended again = run({"--resume", "checkpoint.safetensors"}, folder);
  CHECK(again.code == 1);
  CHECK_THAT(again.output, ContainsSubstring("continuing from step " + std::to_string(sound)));
}

TEST_CASE("the results have the settings, the validations and every head's scores") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "20", "--layers", "2", "--heads", "2", "--json", "r.json"}), folder)
              .code == 0);
  const nlohmann::json r = results(folder);
  CHECK(r.at("settings").at("width") == 8);
  CHECK(r.at("settings").at("rate") == 0.003);
  CHECK(r.at("held_out") == 1000);
  CHECK(r.at("validations").front().at("step") == 1);
  CHECK(r.at("validations").back().at("step") == 20);
  CHECK(r.at("validations").back().at("loss") > 0);
  REQUIRE(r.at("heads").size() == 4);
  CHECK(r.at("heads").at(2).at("layer") == 2);
  CHECK(r.at("heads").at(2).at("head") == 1);
  double best = 0;
  for (const nlohmann::json& head : r.at("heads")) {
    CHECK(head.at("patterns").size() == 5);
    best = std::max(best, head.at("patterns").at("mirrored diagonal").get<double>());
    // A model that has hardly learned attends uniformly: the mean of log(n) for n = 2 to 8.
    CHECK(head.at("entropy") == Approx(1.51).margin(0.05));
  }
  CHECK(r.at("best_head").at("mean_weight") == best);
}

TEST_CASE("a run that did not learn says so and fails if --require is not met") {
  const TemporaryFolder folder;
  const auto train = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--overwrite", "--json", "r.json"});
    return run(more, folder);
  };
  const Ended not_learned = train(small({"--steps", "2"}));
  CHECK(not_learned.code == 0);
  CHECK_THAT(not_learned.output, ContainsSubstring("not learned: only "));
  CHECK(results(folder).at("learned") == false);
  CHECK_THAT(content(folder.file("report.html")), ContainsSubstring("The task was not learned"));
  const Ended required = train(small({"--steps", "2", "--require", "0.995"}));
  CHECK(required.code == 1);
  CHECK_THAT(required.output, ContainsSubstring("held-out answers are right, less than --require"));
  CHECK(train(small({"--steps", "2", "--require", "0"})).code == 0);

  const Ended learned = train({"--length", "4", "--steps", "100", "--require", "0.995"});
  CAPTURE(learned.output);
  CHECK(learned.code == 0);
  CHECK(learned.output.find("not learned") == std::string::npos);
  CHECK(results(folder).at("learned") == true);
  CHECK(run({"--resume", "checkpoint.safetensors", "--require", "1"}, folder).code ==
        (results(folder).at("exact_match") == 1.0 ? 0 : 1));
}

TEST_CASE("a run ends with the first check that it passes") {
  const TemporaryFolder folder;
  const Ended ended = run({"--length", "4", "--steps", "25", "--max-steps", "1600", "--width", "32",
                           "--json", "r.json"},
                          folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const nlohmann::json r = results(folder);
  const nlohmann::json& checks = r.at("checks");
  REQUIRE(checks.size() > 1);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    CHECK(checks.at(i).at("step") == 25U << i);
    CHECK((checks.at(i).at("exact_match") == 1) == (i + 1 == checks.size()));
  }
  CHECK(r.at("steps") == checks.back().at("step"));
  CHECK(r.at("steps") < 1600);
  CHECK_THAT(ended.output, ContainsSubstring(": 100 % of other held-out answers right\n"));
  CHECK_THAT(content(folder.file("report.html")),
             ContainsSubstring("check after step 25: 0 % of other held-out answers right, so"));
}

TEST_CASE("progress is redrawn on a terminal and has no escape codes elsewhere") {
  using tend::test::Through;
  const TemporaryFolder folder;
  const std::vector<std::string> short_run = small({"--steps", "50", "--overwrite"});
  const auto has_escape = [](const Ended& ended) {
    return ended.output.find('\x1b') != std::string::npos;
  };
  const Ended redrawn = run_in_shell("TERM=xterm", "", short_run, folder, Through::terminal);
  CHECK(redrawn.code == 0);
  CHECK(has_escape(redrawn));
  CHECK_FALSE(has_escape(run_in_shell("TERM=dumb", "", short_run, folder, Through::terminal)));
  CHECK_FALSE(has_escape(run_in_shell("env -u TERM", "", short_run, folder, Through::terminal)));
  const Ended piped = run_in_shell("TERM=xterm", "", short_run, folder);
  CHECK_FALSE(has_escape(piped));
  CHECK(piped.output.find("step ") == std::string::npos);  // too short for a line of progress
}

TEST_CASE("a run of more than two seconds prints its progress in separate lines") {
  const TemporaryFolder folder;
  Process process(kProgram, small({"--steps", "1000000"}), folder.path());
  REQUIRE(process.wait_for(" s left"));
  CHECK_THAT(process.output(), ContainsSubstring("/1000000  "));
  CHECK(process.output().find('\x1b') == std::string::npos);
  process.send(SIGINT);
  CHECK(process.wait() == 130);
}
