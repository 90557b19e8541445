// A Trainer's checkpoints: a run goes on from them bit for bit, and leaves those of others alone.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
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

// That at which a checkpoint was written.
std::int64_t step_of(const std::string& checkpoint) {
  return nn::load_run(checkpoint).tensors.at("training.step").item<std::int64_t>();
}

}  // namespace

TEST_CASE("a run that crashes and goes on has the losses, weights and logs of one that did not",
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
    // From a checkpoint the seed is no matter. Without one the run begins anew, from Course's.
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

TEST_CASE("a run that goes on removes the checkpoints that a killed process had no time to remove",
          "[products]") {
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

TEST_CASE(
    "the checkpoint of the best evaluation is kept, and whether patience ended the run is told",
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

  // Evaluations of after_step count, too, and the last of all steps is no early end.
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

TEST_CASE("the best checkpoint is replaced by a better one alone, and by no other run's",
          "[products]") {
  const TemporaryFolder folder;
  const std::string best = folder.file("best.safetensors");
  struct Plan {
    std::int64_t steps = 9, best_step = -1;
    double evaluation = 0;     // of the best step; others have 1
    std::int64_t thrown = -1;  // the step whose after_step throws
    bool resumes = true;
  };
  const auto run = [&](const Plan& plan) {
    Course course;
    nn::TrainerOptions options{.steps = plan.steps,
                               .evaluate_every = 1,
                               .out = folder.path(),
                               .save_every = 2,
                               .keep_best = true,
                               .resume = plan.resumes,
                               .shows_progress = false};
    nn::Trainer* running = nullptr;
    options.evaluate = [&] {
      return running->steps_done() == plan.best_step ? plan.evaluation : 1.0;
    };
    options.after_step = [&](const nn::TrainedStep& done) {
      if (done.step == plan.thrown) throw done.step;
    };
    nn::Trainer trainer(
        course.model, course.optimizer, [&] { return course.loss(); }, options);
    running = &trainer;
    trainer.run();
  };
  // A step that fails after its evaluation has no checkpoint.
  CHECK_THROWS_AS(run({.best_step = 1, .thrown = 1, .resumes = false}), std::int64_t);
  CHECK_FALSE(std::filesystem::exists(best));
  CHECK_THROWS_AS(run({.best_step = 1, .thrown = 2, .resumes = false}), std::int64_t);
  CHECK(step_of(best) == 1);  // and there is no other yet
  CHECK_THROWS_WITH(run({.resumes = false}), ContainsSubstring("checkpoints of another run"));
  CHECK(step_of(best) == 1);
  // It goes on from that, and from the checkpoint of step 4.
  CHECK_THROWS_AS(run({.best_step = 5, .evaluation = -5, .thrown = 5}), std::int64_t);
  CHECK(step_of(best) == 1);
  CHECK_THROWS_AS(run({.best_step = 5, .evaluation = -5, .thrown = 6}), std::int64_t);
  CHECK(step_of(best) == 5);
  // From there it goes another way, better than the checkpoint's best, but not than step 5 was.
  run({.steps = 6, .best_step = 6, .evaluation = -3});
  CHECK(step_of(best) == 5);
  run({.steps = 8, .best_step = 8, .evaluation = -6});
  CHECK(step_of(best) == 8);
  nn::save_safetensors(best, {{"x", ones({2})}});
  CHECK_THROWS_WITH(run({.steps = 10}), ContainsSubstring("is no checkpoint"));
  nn::save_safetensors(best, {{"training.best_evaluation", zeros({2}, float64)}});
  CHECK_THROWS_WITH(run({.steps = 10}), ContainsSubstring("(2,) float64, not one number"));
}

TEST_CASE("a best evaluation whose step failed is written by the run that goes on", "[products]") {
  const TemporaryFolder folder;
  Course course;
  bool fails = true;
  nn::TrainerOptions options{.steps = 3,
                             .evaluate_every = 1,
                             .out = folder.path(),
                             .keep_best = true,
                             .shows_progress = false};
  nn::Trainer* running = nullptr;
  options.evaluate = [&] { return running->steps_done() == 2 ? 0.0 : 1.0; };
  options.after_step = [&](const nn::TrainedStep& done) {
    if (done.step == 2 && std::exchange(fails, false)) throw done.step;
  };
  nn::Trainer trainer(
      course.model, course.optimizer, [&] { return course.loss(); }, options);
  running = &trainer;
  CHECK_THROWS_AS(trainer.run(), std::int64_t);
  CHECK(step_of(folder.file("best.safetensors")) == 1);
  trainer.run();
  CHECK(step_of(folder.file("best.safetensors")) == 2);
}

TEST_CASE("a run that begins anew leaves the checkpoints of another alone", "[products]") {
  const TemporaryFolder folder;
  const nn::TrainerOptions options{
      .steps = 3, .out = folder.file("out"), .save_every = 1, .shows_progress = false};
  {
    Course course;
    nn::Trainer trainer(
        course.model, course.optimizer, [&] { return course.loss(); }, options);
    trainer.run();
    trainer.set_steps(4);
    trainer.run();  // its own checkpoints are no other run's
  }
  Course course;
  nn::Trainer again(
      course.model, course.optimizer, [&] { return course.loss(); }, options);
  CHECK_THROWS_WITH(again.run(), ContainsSubstring("holds checkpoints of another run"));
  CHECK(nn::CheckpointFolder(folder.file("out")).steps().size() == 3);
  CHECK(again.steps_done() == 0);
  // What is named like a later checkpoint, and is none, changes nothing.
  std::filesystem::create_symlink("nowhere", folder.file("out/step-00000300.safetensors"));
  std::filesystem::create_directory(folder.file("out/step-00000400.safetensors"));
  CHECK_THROWS_WITH(again.run(), ContainsSubstring("holds checkpoints of another run"));
  CHECK(nn::CheckpointFolder(folder.file("out")).steps().rbegin()->first == 4);
}

TEST_CASE("a run that may go on begins anew where there is nothing to go on from", "[products]") {
  const TemporaryFolder folder;
  Course course;
  CHECK(course.train({.steps = 2, .out = folder.file("out"), .resume = true}) == 2);
}

TEST_CASE("a step that is chosen and has no checkpoint is refused", "[products]") {
  const TemporaryFolder folder;
  Course course;
  nn::TrainerOptions options{.steps = 2, .out = folder.path(), .save_every = 1, .resume = true};
  options.choose_checkpoint = [](std::int64_t) { return std::int64_t{77}; };
  CHECK_THROWS_WITH(course.train(options), ContainsSubstring("has no checkpoint of step 77"));
  CHECK(course.losses.empty());
}

TEST_CASE("the best evaluation of another run is not replaced where no checkpoint was chosen",
          "[products]") {
  const TemporaryFolder folder;
  nn::TrainerOptions options{
      .steps = 2, .evaluate_every = 1, .out = folder.path(), .keep_best = true, .resume = true};
  options.evaluate = [] { return 1.0; };
  Course().train(options);
  REQUIRE(std::filesystem::exists(folder.file("best.safetensors")));
  options.choose_checkpoint = [](std::int64_t) { return std::int64_t{-1}; };
  CHECK_THROWS_WITH(Course().train(options), ContainsSubstring("holds checkpoints of another run"));
}

TEST_CASE("a run that is to begin anew leaves the checkpoints of another alone", "[products]") {
  const TemporaryFolder folder;
  nn::TrainerOptions options{.steps = 2, .out = folder.path(), .save_every = 1, .resume = true};
  Course().train(options);
  options.choose_checkpoint = [](std::int64_t) { return std::int64_t{-1}; };
  CHECK_THROWS_WITH(Course().train(options), ContainsSubstring("holds checkpoints of another run"));
  CHECK(nn::CheckpointFolder(folder.path()).steps().size() == 2);
}

TEST_CASE(
    "a run that left nothing but its best evaluation goes on from that, also where a function "
    "chooses",
    "[products]") {
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
  CHECK(course.losses.size() == 5);  // of which the state had two
  CHECK(nn::CheckpointFolder(folder.path()).steps().contains(5));
}

TEST_CASE(
    "a step whose schedule throws is logged, and another that is loaded is not stepped for it") {
  const TemporaryFolder folder;
  nn::Linear model(1, 1);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  bool throws = true;
  optim::LambdaLR schedule(optimizer, [&](std::int64_t epoch) {
    if (epoch == 3 && std::exchange(throws, false)) throw std::runtime_error("no rate");
    return std::pow(0.5, epoch);
  });
  const auto loss = [&] { return model(ones({1, 1})).sum(); };
  nn::Trainer trainer(model, optimizer, loss,
                      {.steps = 5,
                       .out = folder.file("run"),
                       .save_every = 2,
                       .shows_progress = false,
                       .schedule = &schedule});
  CHECK_THROWS_WITH(trainer.run(), ContainsSubstring("no rate"));
  CHECK(trainer.steps_done() == 3);
  CHECK(lines_of(folder.file("run/log.jsonl")).size() == 3);
  trainer.state.load(folder.file("run/step-00000002.safetensors"));
  trainer.run();
  CHECK(trainer.steps_done() == 5);
  CHECK(schedule.last_epoch() == 5);
}

TEST_CASE("what a killed run has left of its best checkpoint goes with the run that resumes") {
  const TemporaryFolder folder;
  nn::Linear model(1, 1);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  nn::Trainer trainer(
      model, optimizer,
      [&] {
        return model(ones({1, 1})).sum();
      },
      {.steps = 1, .out = folder.file("run"), .resume = true, .shows_progress = false});
  trainer.run();
  const std::string left = folder.file("run/best.safetensors.tend.tmp");
  std::ofstream(left) << "part";
  trainer.set_steps(2);
  trainer.run();
  CHECK_FALSE(std::filesystem::exists(left));
}
