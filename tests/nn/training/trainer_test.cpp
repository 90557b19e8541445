// The trainer makes the steps of a loop written by hand, evaluates, and stops at the right step.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/end_child.h"
#include "tests/examples/process.h"
#include "tests/nn/training/course.h"

#include <tend/tend.h>

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using tend::test::Course;
using tend::test::Drop;
using tend::test::lines_of;
using tend::test::same_weights;
using tend::test::TemporaryFolder;

TEST_CASE("a trainer makes the same steps as a loop written by hand", "[products]") {
  Course trained, by_hand;
  by_hand.model.load_state_dict(trained.model.state_dict());
  manual_seed(9);
  trained.train({.steps = 12, .accumulate = 2, .clip_norm = 0.5});
  manual_seed(9);
  for (int step = 0; step < 12; ++step) {
    by_hand.optimizer.zero_grad();
    double sum = 0;
    for (int part = 0; part < 2; ++part) {
      const Tensor loss = by_hand.loss() / 2;
      loss.backward();
      sum += loss.item();
    }
    nn::clip_grad_norm_(by_hand.model.parameters(), 0.5);
    by_hand.optimizer.step();
    by_hand.schedule.step();
    by_hand.losses.push_back(sum);
  }
  CHECK(trained.losses == by_hand.losses);
  CHECK(same_weights(trained.model, by_hand.model));
}

TEST_CASE("functions that add gradients themselves are averaged as losses are", "[products]") {
  Course losses, gradients;
  manual_seed(9);
  losses.train({.steps = 12, .accumulate = 2, .clip_norm = 0.5});
  manual_seed(9);
  const auto backward = [&] {
    const Tensor loss = gradients.loss();
    loss.backward();
    return loss.item();
  };
  nn::Trainer trainer(
      gradients.model, gradients.optimizer, backward,
      {.steps = 12,
       .accumulate = 2,  // halving is exact, so the bits are the same
       .clip_norm = 0.5,
       .shows_progress = false,
       .schedule = &gradients.schedule,
       .after_step = [&](const nn::TrainedStep& done) { gradients.losses.push_back(done.loss); }});
  trainer.run();
  CHECK(gradients.losses == losses.losses);
  CHECK(same_weights(gradients.model, losses.model));
}

TEST_CASE("micro-batches weighted by their targets make the same step as the whole batch") {
  const Tensor x = randn({6, 4}), y = tensor({0, 2, -100, -100, -100, 1});
  nn::Linear whole(4, 3), parts(4, 3);
  parts.load_state_dict(whole.state_dict());
  optim::SGD whole_optimizer(whole.parameters(), {.lr = 0.5});
  optim::SGD parts_optimizer(parts.parameters(), {.lr = 0.5});
  const auto loss = [](const nn::Linear& model, const Tensor& inputs, const Tensor& targets) {
    return nn::WeightedLoss{cross_entropy(model(inputs), targets), (targets != -100).sum().item()};
  };
  int call = 0;
  double found = 0, wanted = 0;
  const auto part = [&] {
    const std::int64_t first = 2 * (call++ % 3);  // the second has no target
    return loss(parts, x[Slice{first, first + 2}], y[Slice{first, first + 2}]);
  };
  nn::Trainer(parts, parts_optimizer, part,
              {.steps = 3,
               .accumulate = 3,
               .shows_progress = false,
               .after_step = [&](const nn::TrainedStep& done) { found = done.loss; }})
      .run();
  nn::Trainer(whole, whole_optimizer, [&] { return loss(whole, x, y).loss; },
              {.steps = 3,
               .shows_progress = false,
               .after_step = [&](const nn::TrainedStep& done) { wanted = done.loss; }})
      .run();
  // The sums are rounded in another order.
  CHECK(allclose(parts.weight, whole.weight, 1e-5, 1e-6));
  CHECK(std::abs(found - wanted) < 1e-5);
}

TEST_CASE("a step's callback may lengthen the run and set an evaluation", "[products]") {
  const TemporaryFolder folder;
  manual_seed(5);
  Drop model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  nn::Trainer* running = nullptr;
  nn::TrainerOptions options{.steps = 3, .out = folder.path()};
  options.after_step = [&](nn::TrainedStep& done) {
    if (done.step == 3) running->set_steps(5);
    if (done.step == 4) done.evaluation = 0.25;
  };
  nn::Trainer trainer(
      model, optimizer,
      [&] {
        return model(ones({2, 3})).sum();
      },
      options);
  running = &trainer;
  trainer.run();
  CHECK(trainer.steps_done() == 5);
  const auto lines = lines_of(folder.file("log.jsonl"));
  CHECK(nlohmann::json::parse(lines.at(3)).at("evaluation") == 0.25);
  CHECK(!nlohmann::json::parse(lines.at(4)).contains("evaluation"));
  trainer.set_steps(6);
  trainer.run();
  CHECK(trainer.steps_done() == 6);
  CHECK(lines_of(folder.file("log.jsonl")).size() == 6);
  CHECK_THROWS_WITH(trainer.set_steps(-1), ContainsSubstring("steps must be at least 0, got -1"));
}

TEST_CASE("an evaluation that throws leaves the model in training mode", "[products]") {
  Course course;
  nn::TrainerOptions options{.steps = 2, .evaluate_every = 1};
  options.evaluate = []() -> double { throw std::runtime_error("no data"); };
  CHECK_THROWS_WITH(course.train(options), "no data");
  CHECK(course.model.is_training());
  CHECK(grad_enabled());
}

TEST_CASE("evaluation runs in evaluation mode and patience ends the run", "[products]") {
  Course course;
  std::vector<double> found = {3, 2, 2.5, 2, 1};
  std::size_t next = 0;
  nn::TrainerOptions options{.steps = 100, .evaluate_every = 2, .patience = 2};
  options.evaluate = [&] {
    CHECK(!course.model.is_training());
    CHECK(!grad_enabled());
    return found.at(next++);
  };
  CHECK(course.train(options) == 8);
  CHECK(next == 4);
  CHECK(course.model.is_training());
}

TEST_CASE("ReduceLROnPlateau steps with each evaluation and continues with a resumed run",
          "[products]") {
  const TemporaryFolder folder;
  const std::vector<double> found = {3, 2, 2.5, 2.4, 2.3, 1};
  // Returns the rates of the steps of a run to `steps`, which resumes an earlier run if `resumes`.
  const auto rates = [&](const std::string& out, std::int64_t steps, bool resumes) {
    manual_seed(5);
    Drop model;
    optim::SGD optimizer(model.parameters(), 0.1);
    optim::ReduceLROnPlateau plateau(optimizer, {.factor = 0.5, .patience = 1});
    std::vector<double> seen;
    nn::TrainerOptions options{.steps = steps,
                               .evaluate_every = 2,
                               .out = folder.file(out),
                               .resume = resumes,
                               .shows_progress = false,
                               .plateau = &plateau};
    options.after_step = [&](const nn::TrainedStep& done) { seen.push_back(done.lr); };
    nn::Trainer* running = nullptr;
    options.evaluate = [&] {
      return found.at(static_cast<std::size_t>(running->steps_done()) / 2 - 1);
    };
    nn::Trainer trainer(
        model, optimizer,
        [&] {
          return mean(square(model(ones({2, 3}))));
        },
        options);
    running = &trainer;
    trainer.run();
    return seen;
  };
  const std::vector<double> whole = rates("whole", 12, false);
  // The fourth evaluation is the second one that is not better than 2, so the rate is halved.
  CHECK(whole ==
        std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05});
  // A run that stops between these two evaluations continues to count.
  rates("stops", 7, false);
  CHECK(rates("stops", 12, true) == std::vector<double>(whole.begin() + 7, whole.end()));
}

TEST_CASE("a loss that is not finite ends a run before its step", "[products]") {
  Course course;
  nn::StateDict before;
  int calls = 0;
  nn::Trainer trainer(course.model, course.optimizer,
                      [&] {
                        if (++calls < 3) return course.loss();
                        for (const auto& [name, tensor] : course.model.state_dict())
                          before.emplace_back(name, tensor.clone());
                        return course.loss() * std::numeric_limits<double>::infinity();
                      },
                      {.steps = 9, .shows_progress = false});
  CHECK_THROWS_AS(trainer.run(), nn::NotFiniteError);
  CHECK_THROWS_WITH(trainer.run(), ContainsSubstring("[Trainer] step 3 has the loss inf"));
  CHECK(trainer.steps_done() == 2);
  for (const auto& [name, tensor] : course.model.state_dict())
    CHECK(equal(tensor, before.at(name)));
}

TEST_CASE("Ctrl-C ends a run after its step with a checkpoint and restores the handlers",
          "[products]") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // removes the test framework's handler
    Course course;
    nn::TrainerOptions options{.steps = 50, .out = folder.file("out"), .shows_progress = false};
    options.after_step = [](const nn::TrainedStep& done) {
      if (done.step == 7) std::raise(SIGINT);
    };
    nn::Trainer trainer(
        course.model, course.optimizer, [&] { return course.loss(); }, options);
    trainer.run();
    const bool is_right = trainer.steps_done() == 7 && nn::InterruptGuard::signal() == SIGINT &&
                          std::signal(SIGINT, SIG_DFL) == SIG_DFL &&
                          nn::CheckpointFolder(folder.file("out")).steps().contains(7);
    tend::test::end_child(is_right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a trainer refuses invalid options and checkpoints of other settings", "[products]") {
  const TemporaryFolder folder;
  Course course;
  const auto refuses = [&](const nn::TrainerOptions& options, const std::string& message) {
    CHECK_THROWS_WITH(nn::Trainer(
                          course.model, course.optimizer, [&] { return course.loss(); }, options),
                      ContainsSubstring(message));
  };
  refuses({.steps = -1}, "steps must be at least 0");
  refuses({.steps = 1, .accumulate = 0}, "accumulate must be at least 1");
  refuses({.steps = 1, .tokens_per_step = -1}, "tokens_per_step must be at least 0");
  refuses({.steps = 1, .save_every = 1}, "checkpoints need a folder");
  refuses({.steps = 1, .resume = true}, "checkpoints need a folder");
  refuses({.steps = 1, .keep_best = true}, "checkpoints need a folder");
  refuses({.steps = 1, .out = "/dev/null/x"}, "cannot be made");
  refuses({.steps = 1, .evaluate = [] { return 0.0; }}, "evaluate would never be called");
  refuses({.steps = 1, .evaluate_every = 1}, "needs the function evaluate");
  refuses({.steps = 1, .patience = 1}, "patience needs evaluations");
  optim::ReduceLROnPlateau plateau(course.optimizer);
  refuses({.steps = 1, .plateau = &plateau}, "plateau needs evaluations");
  refuses({.steps = 1, .clip_norm = -1}, "clip_norm must be at least 0, got -1");
  refuses({.steps = 1, .clip_norm = std::nan("")}, "clip_norm must be at least 0, got nan");
  refuses({.steps = 1, .out = folder.path(), .keep_best = true}, "keep_best needs evaluations");
  course.train({.steps = 2, .out = folder.path(), .settings = {{"width", "8"}}});
  CHECK_THROWS_WITH(
      course.train(
          {.steps = 4, .out = folder.path(), .resume = true, .settings = {{"width", "9"}}}),
      ContainsSubstring("was written with other settings"));
}
