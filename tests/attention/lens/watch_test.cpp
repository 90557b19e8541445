// Scores that are recorded during training.
#include <fstream>
#include <functional>

#include "tests/catch.h"

#include <tend/tend.h>

#include <nlohmann/json.hpp>

using namespace tend;

namespace {

// A model with dropout, so that a record in training mode would use random numbers.
struct Watched {
  attention::GPT model{{.vocab_size = 11,
                        .context_length = 8,
                        .width = 8,
                        .num_heads = 2,
                        .num_layers = 2,
                        .dropout = 0.5}};
  Tensor tokens = randint(0, 11, {2, 6});

  std::vector<lens::WatchedScore> scores() const {
    return {{"previous",
             {"blocks.1.attn.hook_pattern"},
             [](const lens::ActivationCache& cache) {
               return lens::previous_token_score(cache["blocks.1.attn.hook_pattern"]);
             }},
            {"size", {"blocks.0.hook_resid_post"}, [](const lens::ActivationCache& cache) {
               return cache["blocks.0.hook_resid_post"].norm();
             }}};
  }
};

}  // namespace

TEST_CASE("a watch records at its interval the scores of a run in evaluation mode") {
  manual_seed(3);
  Watched run;
  lens::Watch watch(run.model, run.tokens, run.scores(), 2);
  run.model.train();
  manual_seed(4);
  const Tensor drawn = rand({1});
  manual_seed(4);
  CHECK_FALSE(watch(1));
  CHECK(watch(2));
  run.model.parameters()[0].detach().mul_(3);
  CHECK(watch(4));
  CHECK(equal(rand({1}), drawn));
  CHECK(run.model.is_training());
  CHECK(watch.steps() == std::vector<std::int64_t>{2, 4});
  CHECK(watch.values("previous").shape() == Shape{2, 2});
  CHECK(watch.values("size").shape() == Shape{2});

  run.model.eval();
  const auto cache = lens::run_with_cache(run.model, run.tokens).cache;
  const Tensor previous = lens::previous_token_score(cache["blocks.1.attn.hook_pattern"]);
  CHECK(allclose(watch.values("previous").select(0, 1), previous.to(float64)));
  CHECK_FALSE(allclose(watch.values("previous").select(0, 0), previous.to(float64)));

  const nn::Chart chart = watch.chart();
  REQUIRE(chart.views.size() == 2);
  CHECK(chart.views[0].name == "previous");
  REQUIRE(chart.views[0].curves.size() == 2);
  CHECK(chart.views[0].curves[1].x == std::vector<double>{2, 4});
  CHECK(chart.views[0].curves[1].y[1] == watch.values("previous")[{1, 1}].item<double>());
  CHECK_THROWS_AS(watch.values("nothing"), IndexError);
  CHECK_THROWS_AS(lens::Watch(run.model, run.tokens, {}, 0), Error);
}

TEST_CASE("a Trainer's log contains the watched scores") {
  const auto folder = std::filesystem::temp_directory_path() / "tend_watch_test";
  std::filesystem::remove_all(folder);
  manual_seed(3);
  Watched run;
  lens::Watch watch(run.model, run.tokens, run.scores(), 2);
  optim::SGD optimizer(run.model.parameters(), 0.1);
  const std::function<Tensor()> loss = [&] { return run.model(run.tokens).square().mean(); };
  nn::Trainer trainer(
      run.model, optimizer, loss,
      {.steps = 3, .out = folder, .shows_progress = false, .after_step = std::ref(watch)});
  trainer.run();
  std::ifstream log(folder / "log.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 3);
  CHECK_FALSE(lines[0].contains("scores"));
  CHECK(lines[1].at("scores").at("previous").get<std::vector<double>>() ==
        watch.values("previous").select(0, 0).to_vector<double>());
  CHECK(lines[1].at("scores").at("size").size() == 1);
  std::filesystem::remove_all(folder);
}
