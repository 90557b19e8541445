#include "examples/train/run/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "examples/train/run/checkpoint.h"
#include "examples/train/run/evaluation.h"
#include "examples/train/run/held_out.h"

namespace train {

namespace {

constexpr std::uint64_t kValidations = 16;  // per run
constexpr std::size_t kWatched = 128;       // sequences per validation
constexpr std::size_t kWatchedHeads = 16;   // sequences whose attention is scored, too

/// Held-out sequences are the same for every seed, so that runs can be compared.
constexpr std::uint64_t kHeldOutSeed = 2017;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Training::Training(const Options& s, Task t, Processes& processes, const Saving& saving)
    : options(s),
      task(std::move(t)),
      model((tend::manual_seed(s.seed), make_model(options, task))),
      optimizer(make_optimizer(options, model)),
      trainer(
          model, optimizer, [this] { return next_gradients(); },
          trainer_options(processes, saving)),
      saved_every_(saving.every),
      processes_(processes) {
  Random random(kHeldOutSeed, 0);
  watched_ = task.held_out(random, kWatched);
  trainer.state.add("history", history);
}

tend::nn::TrainerOptions Training::trainer_options(const Processes& processes,
                                                   const Saving& saving) {
  tend::nn::TrainerOptions o;
  o.steps = static_cast<std::int64_t>(options.steps);
  o.clip_norm = options.clip;
  o.tokens_per_step = static_cast<std::int64_t>(options.batch * task.context());
  if (saving.every > 0 && processes.is_first()) {
    o.out = saving.folder;
    o.save_every = static_cast<std::int64_t>(saving.every);
    o.keep = static_cast<std::int64_t>(saving.keep);
  }
  o.shows_progress = processes.is_first();
  o.settings = checkpoint_settings(*this);
  o.after_step = [this](tend::nn::TrainedStep& done) { record_step(done); };
  // A signal reaches all processes, but not in the same step. So the processes must agree on it.
  o.ends = [this] { return processes_.signal() != 0; };
  return o;
}

double Training::tokens_per_second() const {
  const double tokens = static_cast<double>(steps_done()) * static_cast<double>(options.batch) *
                        static_cast<double>(task.context());
  return history.training_seconds > 0 ? tokens / history.training_seconds : 0.0;
}

std::uint64_t Training::steps_planned() const {
  std::uint64_t steps = options.steps;
  for (const Check& made : history.checks) {
    if (made.step == steps && made.exact_match < 1) steps = std::min(2 * steps, options.max_steps);
  }
  return steps;
}

void Training::end_here() {
  options.steps = options.max_steps = steps_done();
  trainer.set_steps(trainer.steps_done());
}

double Training::next_rate() const {
  Options planned = options;
  planned.steps = steps_planned();
  return rate_at(planned, steps_done());
}

double Training::next_gradients() {
  start_ = std::chrono::steady_clock::now();
  optimizer.set_lr(next_rate());
  return processes_.backward(model,
                             training_batch(task, options.seed, steps_done(), options.batch));
}

void Training::record_step(tend::nn::TrainedStep& done) {
  history.losses.push_back(done.loss);
  history.training_seconds += seconds_since(start_);
  const std::uint64_t period = std::max<std::uint64_t>(1, options.steps / kValidations);
  const bool is_saved = saved_every_ > 0 && steps_done() % saved_every_ == 0;
  if (steps_done() == 1 || steps_done() % period == 0 || is_saved || is_complete()) {
    validate();
    done.evaluation = history.validations.back().loss;
  }
  if (is_complete() && steps_done() < options.max_steps) check();
  trainer.set_steps(static_cast<std::int64_t>(steps_planned()));
  history.seconds += seconds_since(start_);
  if (done.evaluation) remember();
}

void Training::remember() {
  sound_ = trainer.state.state_dict();
  const tend::NoGradGuard no_grad;
  for (auto& [name, tensor] : sound_) tensor = tensor.clone();
}

void Training::validate() {
  const Evaluation found = evaluate(model, task, watched_);
  if (!std::isfinite(found.loss))
    tend::fail<tend::nn::NotFiniteError>("train", "step ", steps_done(), " has the loss ",
                                         found.loss, " on held-out sequences");
  history.validations.push_back({steps_done(), found.loss, found.exact_match});
  const std::span<const Tokens> seen(watched_);
  history.heads.push_back(
      {steps_done(), score_heads(model, task, seen.first(std::min(kWatchedHeads, seen.size())))});
}

void Training::check() {
  const std::vector<Tokens> sequences = check_sequences(task);
  if (sequences.empty()) return;
  history.checks.push_back({steps_done(), evaluate(model, task, sequences).exact_match});
}

Course train_to_end(Training& training) {
  Course course;
  training.remember();
  try {
    training.trainer.run();
  } catch (const tend::nn::NotFiniteError& error) {
    const std::string message = error.what();  // "[Trainer] step 3 has ..."
    course.failure = message.substr(message.find(' ') + 1) + "; a lower --rate may help";
    course.history = training.history;
    training.put_back();
    return course;
  }
  course.history = training.history;
  return course;
}

}  // namespace train
