// A Trainer's checkpoints: a run resumes from them bit for bit, and keeps other runs' checkpoints.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/training/course.h"

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using tend::test::Course;
using tend::test::lines_of;
using tend::test::same_weights;
using tend::test::TemporaryFolder;

namespace {

// The step at which a checkpoint was written.
std::int64_t step_of(const std::string& checkpoint) {
  return nn::load_run(checkpoint).tensors.at("training.step").item<std::int64_t>();
}

}  // namespace

TEST_CASE("a run that continues after a crash has the same results as an uninterrupted run",
          "[products]") {
  const TemporaryFolder folder;
  const auto options = [&](const std::string& out) {
    return nn::TrainerOptions{.steps = 23,
                              .clip_norm = 1,
                              .tokens_per_step = 6,
                              .out = folder.file(out),
                              .save_every = 4,
                              .keep = 2,
                              .resume = true};
  };
  Course whole;
  CHECK(whole.train(options("whole")) == 23);
  for (const std::int64_t crash : {1, 4, 5, 10, 22}) {
    CAPTURE(crash);
    const std::string out = "crash" + std::to_string(crash);
    Course first;
    CHECK_THROWS_AS(first.train(options(out), crash), std::int64_t);
    Course second;
    // The seed does not matter after a checkpoint. Without a checkpoint, the run
    // starts with Course's seed.
    if (crash > 4) manual_seed(1234);
    CHECK(second.train(options(out)) == 23);
    CHECK(second.losses == whole.losses);
    CHECK(same_weights(second.model, whole.model));
    const auto lines = lines_of(folder.file(out + "/log.jsonl"));
    REQUIRE(lines.size() == 23);
    for (std::size_t i = 0; i < 23; ++i) {
      const auto line = nlohmann::json::parse(lines[i]);
      CHECK(line.at("step") == i + 1);
      CHECK(line.at("loss") == second.losses[i]);
      CHECK(line.at("tokens_per_second") > 0);
    }
    const auto rows = lines_of(folder.file(out + "/log.csv"));
    REQUIRE(rows.size() == 24);
    CHECK(rows[0] == "step,loss,lr,grad_norm,seconds,tokens_per_second,evaluation");
    CHECK(rows[23].starts_with("23,"));
    CHECK(nn::CheckpointFolder(folder.file(out)).steps().size() == 2);
    CHECK(nn::CheckpointFolder(folder.file(out)).steps().contains(23));
  }
}

TEST_CASE("a run that continues removes old checkpoints that a killed process left", "[products]") {
  const TemporaryFolder folder;
  const nn::TrainerOptions options{
      .steps = 8, .out = folder.path(), .save_every = 2, .keep = 2, .resume = true};
  Course first;
  CHECK(first.train(options) == 8);
  const auto last = nn::CheckpointFolder(folder.path()).last();
  std::filesystem::copy(last, folder.file("step-00000002.safetensors"));
  Course second;
  CHECK(second.train(options) == 8);
  const auto steps = nn::CheckpointFolder(folder.path()).steps();
  CHECK(steps.size() == 2);
  CHECK(steps.begin()->first == 6);
}

TEST_CASE("a Trainer keeps the best evaluation and reports that patience ended the run",
          "[products]") {
  const TemporaryFolder folder;
  Course course;
  const std::vector<double> found = {3, std::nan(""), 2, 2.5, 4};
  std::size_t next = 0;
  nn::StateDict best;
  nn::TrainerOptions options{.steps = 100,
                             .evaluate_every = 1,
                             .patience = 2,
                             .out = folder.path(),
                             .keep_best = true,
                             .shows_progress = false,
                             .settings = {{"width", "8"}}};
  options.evaluate = [&] {
    if (found.at(next) == 2) best = course.model.clone().state_dict();
    return found.at(next++);
  };
  nn::Trainer trainer(
      course.model, course.optimizer, [&] { return course.loss(); }, options);
  trainer.run();
  CHECK(trainer.steps_done() == 5);
  CHECK(trainer.stopped_early());
  const nn::Safetensors kept = nn::load_run(folder.file("best.safetensors"));
  CHECK(kept.metadata == std::map<std::string, std::string>{{"width", "8"}});
  CHECK(step_of(folder.file("best.safetensors")) == 3);
  for (const auto& [key, value] : best) CHECK(equal(kept.tensors.at(key), value));
  CHECK_FALSE(equal(course.model.up.weight, best.at("up.weight")));

  // Evaluations of after_step also count. A run that reaches its last step has not stopped early.
  Course other;
  const TemporaryFolder another;
  nn::TrainerOptions own{
      .steps = 4, .patience = 2, .out = another.path(), .keep_best = true, .shows_progress = false};
  own.after_step = [](nn::TrainedStep& done) { done.evaluation = done.step == 2 ? 0 : 1; };
  nn::Trainer second(
      other.model, other.optimizer, [&] { return other.loss(); }, own);
  second.run();
  CHECK(second.steps_done() == 4);
  CHECK_FALSE(second.stopped_early());
  CHECK(step_of(another.file("best.safetensors")) == 2);
}

TEST_CASE("a new run does not touch the checkpoints of another run", "[products]") {
  const TemporaryFolder folder;
  const nn::TrainerOptions options{
      .steps = 3, .out = folder.file("out"), .save_every = 1, .shows_progress = false};
  {
    Course course;
    nn::Trainer trainer(
        course.model, course.optimizer, [&] { return course.loss(); }, options);
    trainer.run();
    trainer.set_steps(4);
    trainer.run();  // its own checkpoints are accepted
  }
  Course course;
  nn::Trainer again(
      course.model, course.optimizer, [&] { return course.loss(); }, options);
  CHECK_THROWS_WITH(again.run(), ContainsSubstring("has checkpoints of another run"));
  CHECK(nn::CheckpointFolder(folder.file("out")).steps().size() == 3);
  CHECK(again.steps_done() == 0);
  // If `resume` is true, but choose_checkpoint chooses a new run, they are refused, too.
  nn::TrainerOptions anew = options;
  anew.resume = true;
  anew.choose_checkpoint = [](std::int64_t) { return std::int64_t{-1}; };
  CHECK_THROWS_WITH(Course().train(anew), ContainsSubstring("has checkpoints of another run"));
}

TEST_CASE("a run that may resume starts anew if there is no checkpoint", "[products]") {
  const TemporaryFolder folder;
  Course course;
  CHECK(course.train({.steps = 2, .out = folder.file("out"), .resume = true}) == 2);
}

TEST_CASE("resuming at a step without a checkpoint is refused", "[products]") {
  const TemporaryFolder folder;
  Course course;
  nn::TrainerOptions options{.steps = 2, .out = folder.path(), .save_every = 1, .resume = true};
  options.choose_checkpoint = [](std::int64_t) { return std::int64_t{77}; };
  CHECK_THROWS_WITH(course.train(options), ContainsSubstring("has no checkpoint of step 77"));
  CHECK(course.losses.empty());
}

TEST_CASE("a run without other checkpoints resumes its best evaluation", "[products]") {
  const TemporaryFolder folder;
  nn::TrainerOptions options{
      .steps = 2, .evaluate_every = 2, .out = folder.path(), .keep_best = true, .resume = true};
  options.evaluate = [] { return 1.0; };
  Course().train(options);
  std::filesystem::remove(nn::CheckpointFolder(folder.path()).last());
  options.steps = 5;
  options.choose_checkpoint = [](std::int64_t last) {
    CHECK(last == -1);
    return last;
  };
  Course course;
  CHECK(course.train(options) == 5);
  CHECK(course.losses.size() == 5);  // two of them are from the checkpoint
  CHECK(nn::CheckpointFolder(folder.path()).steps().contains(5));
}
