#include "examples/train/run/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "examples/train/page/format.h"
#include "examples/train/run/held_out.h"

namespace train {

namespace {

constexpr std::uint64_t kValidations = 16;  // over a run
constexpr std::size_t kWatched = 128;       // sequences of each
constexpr std::size_t kWatchedHeads = 16;   // of which the attention is looked at, too

/// Held-out sequences are the same for every seed, so that runs can be compared.
constexpr std::uint64_t kHeldOutSeed = 2017;

void require_finite(double value, const std::string& what, std::uint64_t step) {
  if (std::isfinite(value)) return;
  throw NotFinite(what + (std::isnan(value) ? " is no number" : " is infinite") + " at step " +
                  std::to_string(step) + "; a lower --rate may help");
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Training::Training(const Options& s, Task t)
    : options(s),
      task(std::move(t)),
      model((tend::manual_seed(s.seed), make_model(options, task))),
      optimizer(make_optimizer(options, model)),
      parameters_(model.parameters()) {
  Random random(kHeldOutSeed, 0);
  watched_ = task.held_out(random, kWatched);
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

double Training::next_rate() const {
  Options planned = options;
  planned.steps = steps_planned();
  return rate_at(planned, steps_done());
}

void Training::step() {
  const auto start = std::chrono::steady_clock::now();
  train_on_next_batch();
  history.training_seconds += seconds_since(start);
  const std::uint64_t period = std::max<std::uint64_t>(1, options.steps / kValidations);
  const bool is_asked = checked_every > 0 && steps_done() % checked_every == 0;
  if (steps_done() == 1 || steps_done() % period == 0 || is_asked || is_complete()) validate();
  if (is_complete() && steps_done() < options.max_steps) check();
  history.seconds += seconds_since(start);
}

void Training::train_on_next_batch() {
  const std::uint64_t step = steps_done();
  const Batch batch = training_batch(task, options.seed, step, options.batch);
  optimizer.zero_grad();
  const tend::Tensor loss =
      answer_loss(model(token_tensor(batch.inputs, batch.size, batch.length)), batch);
  const double value = loss.item();
  require_finite(value, "the loss", step + 1);
  loss.backward();
  require_finite(tend::nn::clip_grad_norm_(parameters_, options.clip), "the gradient's norm",
                 step + 1);
  optimizer.set_lr(next_rate());
  optimizer.step();
  history.losses.push_back(value);
}

void Training::validate() {
  const Evaluation found = evaluate(model, task, watched_);
  require_finite(found.loss, "the loss on held-out sequences", steps_done());
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

}  // namespace train
