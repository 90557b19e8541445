// The trainer steps as a loop written by hand, stops where it should, and goes on bit for bit.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"

#include <tend/tend.h>

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using tend::test::content;
using tend::test::TemporaryFolder;

namespace {

class Drop : public nn::Module<Drop> {
 public:
  Drop() : up(3, 8), dropout(0.2), down(8, 1) {}
  Tensor forward(const Tensor& x) const { return down(dropout(tanh(up(x)))); }
  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_MODULE(nn::Linear, down);
};

// A model, what trains it, and the losses of its steps.
struct Course {
  bool is_seeded = (manual_seed(5), true);
  Drop model;
  optim::AdamW optimizer{model.parameters(), {.lr = 0.05}};
  optim::ExponentialLR schedule{optimizer, 0.97};
  data::DataLoader<data::TensorDataset<2>> loader{
      data::TensorDataset(linspace(-1, 1, 60).view({20, 3}), linspace(0, 1, 20).view({20, 1})),
      {.batch_size = 6, .shuffle = true, .num_workers = 2}};
  data::Endless<data::DataLoader<data::TensorDataset<2>>> batches{loader};
  std::vector<double> losses;

  Tensor loss() {
    auto& [x, y] = batches.next();
    return mse_loss(model(x), y);
  }
  // Trains with these options until `after` steps of this call, if that is given.
  std::int64_t train(nn::TrainerOptions options, std::int64_t after = -1) {
    options.schedule = &schedule;
    options.shows_progress = false;
    std::int64_t made = 0;
    options.after_step = [&](const nn::TrainedStep& done) {
      losses.push_back(done.loss);
      if (++made == after) throw after;  // as a crash between two checkpoints
    };
    nn::Trainer trainer(
        model, optimizer, [this] { return loss(); }, options);
    trainer.state.add("loader", loader);
    trainer.state.add("losses", losses);
    trainer.run();
    return trainer.steps_done();
  }
};

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// That at which a checkpoint was written.
std::int64_t step_of(const std::string& checkpoint) {
  return nn::load_run(checkpoint).tensors.at("training.step").item<std::int64_t>();
}

bool same_weights(const nn::ModuleBase& a, const nn::ModuleBase& b) {
  const auto left = a.parameters(), right = b.parameters();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!equal(left[i], right[i])) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a trainer makes the steps that a loop written by hand makes", "[products]") {
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

TEST_CASE("a function that adds gradients is averaged as losses are", "[products]") {
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
       .accumulate = 2,  // halves are exact, so the bits are the same
       .clip_norm = 0.5,
       .shows_progress = false,
       .schedule = &gradients.schedule,
       .after_step = [&](const nn::TrainedStep& done) { gradients.losses.push_back(done.loss); }});
  trainer.run();
  CHECK(gradients.losses == losses.losses);
  CHECK(same_weights(gradients.model, losses.model));
}

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
    manual_seed(1234);
    CHECK(second.train(options(out)) == 23);
    // Without any checkpoint the run begins anew, from the same seed.
    if (crash > 4) {
      CHECK(second.losses == whole.losses);
      CHECK(same_weights(second.model, whole.model));
    }
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

TEST_CASE("broken and later lines of a log are taken out before a run goes on") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("log.jsonl"))
      << "{\"step\":1}\nnonsense\n{\"step\":2}\n{\"step\":9}\n{\"st";
  std::ofstream(folder.file("log.csv")) << "old head\n1,2,3,4,5,6,\n2,2,3\n3,1,1,1,1,1,\n12,1,1,1";
  const nn::RunLog log(folder.path(), 2);
  log.write({.step = 3, .loss = 0.5, .lr = 0.25, .grad_norm = 2, .seconds = 1, .evaluation = 4});
  CHECK(content(folder.file("log.jsonl")) ==
        "{\"step\":1}\n{\"step\":2}\n{\"step\":3,\"loss\":0.5,\"lr\":0.25,\"grad_norm\":2.0,"
        "\"seconds\":1.0,\"tokens_per_second\":0.0,\"evaluation\":4.0}\n");
  CHECK(content(folder.file("log.csv")) ==
        "step,loss,lr,grad_norm,seconds,tokens_per_second,evaluation\n1,2,3,4,5,6,\n"
        "3,0.5,0.25,2.0,1.0,0.0,4.0\n");
  CHECK_THROWS_AS(nn::RunLog("/nowhere/at/all", 0), IoError);
}

TEST_CASE("a step's callback may lengthen the run, fill in an evaluation, and be called again",
          "[products]") {
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

TEST_CASE("evaluation happens in evaluation mode, and too many without progress end the run",
          "[products]") {
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

TEST_CASE("a schedule on a plateau is stepped with each evaluation, and goes on with the run",
          "[products]") {
  const TemporaryFolder folder;
  const std::vector<double> found = {3, 2, 2.5, 2.4, 2.3, 1};
  // The rates of the steps of a run that stops after `steps`, and goes on to 12 where `resumes`.
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
  // The fourth evaluation is the second that is not better than 2.
  CHECK(whole ==
        std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05});
  // A run that stops between the two counts on.
  rates("stops", 7, false);
  CHECK(rates("stops", 12, true) == std::vector<double>(whole.begin() + 7, whole.end()));
}

TEST_CASE("a loss that is not finite ends a run before the step that it would spoil",
          "[products]") {
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

TEST_CASE("Ctrl-C ends a run behind its step, with a checkpoint, and the handlers are set back",
          "[products]") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // the test framework's own handler is not ours
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
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
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

TEST_CASE("a trainer refuses options that cannot be, and checkpoints of other settings",
          "[products]") {
  const TemporaryFolder folder;
  Course course;
  const auto refuses = [&](const nn::TrainerOptions& options, const std::string& message) {
    CHECK_THROWS_WITH(nn::Trainer(
                          course.model, course.optimizer, [&] { return course.loss(); }, options),
                      ContainsSubstring(message));
  };
  refuses({.steps = -1}, "steps must be at least 0");
  refuses({.steps = 1, .accumulate = 0}, "accumulate must be at least 1");
  refuses({.steps = 1, .save_every = 1}, "checkpoints need a folder");
  refuses({.steps = 1, .resume = true}, "checkpoints need a folder");
  refuses({.steps = 1, .keep_best = true}, "checkpoints need a folder");
  refuses({.steps = 1, .out = "/dev/null/x"}, "cannot be made");
  refuses({.steps = 1, .evaluate = [] { return 0.0; }}, "evaluate would never be called");
  refuses({.steps = 1, .evaluate_every = 1}, "needs a function, evaluate");
  refuses({.steps = 1, .patience = 1}, "patience needs evaluations");
  refuses({.steps = 1, .out = folder.path(), .keep_best = true}, "keep_best needs evaluations");
  course.train({.steps = 2, .out = folder.path(), .settings = {{"width", "8"}}});
  CHECK_THROWS_WITH(
      course.train(
          {.steps = 4, .out = folder.path(), .resume = true, .settings = {{"width", "9"}}}),
      ContainsSubstring("was written with other settings"));
}

TEST_CASE("batches without end go through a loader again and again") {
  data::DataLoader loader(data::TensorDataset(arange(5)), {.batch_size = 2});
  data::Endless batches(loader);
  std::vector<std::int64_t> seen;
  for (int i = 0; i < 7; ++i) {
    for (const std::int64_t x : batches.next()[0].to_vector<std::int64_t>()) seen.push_back(x);
  }
  CHECK(seen == std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1});
  const nn::StateDict state = loader.state_dict();
  data::DataLoader other(data::TensorDataset(arange(5)), {.batch_size = 2});
  data::Endless resumed(other);
  other.load_state_dict(state);
  CHECK(resumed.next()[0].to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 3});

  data::DataLoader nothing(data::TensorDataset(arange(1)), {.batch_size = 2, .drop_last = true});
  data::Endless none(nothing);
  CHECK_THROWS_WITH(none.next(), "[Endless] the loader has no batches");
}
