#include <tend/nn/training/trainer.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/module/evaluation_mode.h>
#include <tend/nn/optim/clip.h>
#include <tend/nn/training/interrupt.h>
#include <tend/nn/training/progress_line.h>

namespace tend::nn {
namespace {

using detail::kTrainer;

/// Returns a function that calls backward() for the loss of one micro-batch. The loss is divided by
/// `parts`, the number of micro-batches in a step, as is usual in PyTorch.
std::function<double()> backward_of(std::function<Tensor()> loss, std::int64_t parts) {
  if (!loss) fail(kTrainer, "the function that computes the loss is empty");
  return [loss = std::move(loss), parts] {
    const Tensor part = loss() / static_cast<double>(parts);
    part.backward();
    return part.item();
  };
}

/// Returns a function that calls backward() for the sum of the losses of one micro-batch. It adds
/// the number of these losses to `weight`.
std::function<double()> backward_of(std::function<WeightedLoss()> loss, double& weight) {
  if (!loss) fail(kTrainer, "the function that computes the loss is empty");
  return [loss = std::move(loss), &weight] {
    const WeightedLoss part = loss();
    weight += part.weight;
    if (part.weight == 0) return 0.;  // the mean of no losses would be NaN
    const Tensor sum = part.loss * part.weight;
    sum.backward();
    return sum.item();
  };
}

void divide_gradients(const std::vector<Tensor>& parameters, double divisor) {
  const NoGradGuard no_grad;
  for (const Tensor& each : parameters)
    if (each.grad().defined()) each.grad().div_(divisor);
}

bool is_due(std::int64_t step, std::int64_t every) {
  return every > 0 && step % every == 0;
}

}  // namespace

Trainer::Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<Tensor()> loss,
                 const TrainerOptions& options)
    : Trainer(model, optimizer, backward_of(std::move(loss), options.accumulate), options) {
  gradients_are_divided_ = true;
}

Trainer::Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<WeightedLoss()> loss,
                 const TrainerOptions& options)
    : Trainer(model, optimizer, backward_of(std::move(loss), weight_), options) {}

Trainer::Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<double()> gradients,
                 TrainerOptions options)
    : state(model),
      model_(model),
      optimizer_(optimizer),
      gradients_(std::move(gradients)),
      options_(std::move(options)),
      parameters_(model.parameters()) {
  detail::check_options(options_);
  if (!gradients_) fail(kTrainer, "the function that computes the gradients is empty");
  if (!options_.out.empty()) folder_.emplace(options_.out, options_.keep);
  state.add("optimizer", optimizer);
  if (options_.schedule != nullptr) state.add("schedule", *options_.schedule);
  if (options_.plateau != nullptr) state.add("plateau", *options_.plateau);
  state.add("step", step_);
  state.add("best_evaluation", best_);
  state.add("worse_evaluations", worse_);
}

TrainedStep Trainer::make_step() {
  optimizer_.zero_grad();
  for (Tensor& each : parameters_) each.zero_grad();  // the optimizer may lack some
  double loss = 0;
  weight_ = 0;
  for (std::int64_t i = 0; i < options_.accumulate; ++i) loss += gradients_();
  const double divisor = weight_ > 0              ? weight_
                         : gradients_are_divided_ ? 1
                                                  : static_cast<double>(options_.accumulate);
  if (divisor != 1) {
    loss /= divisor;
    divide_gradients(parameters_, divisor);
  }
  const double norm = clip_grad_norm_(parameters_, options_.clip_norm);
  if (!std::isfinite(loss) || !std::isfinite(norm))
    fail<NotFiniteError>(kTrainer, "step ", step_ + 1, " has the loss ", loss,
                         " and the gradient norm ", norm);
  TrainedStep done{.step = step_ + 1, .loss = loss, .lr = optimizer_.lr(0), .grad_norm = norm};
  optimizer_.step();
  ++step_;
  if (options_.schedule != nullptr) options_.schedule->step();
  done.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto steps = static_cast<double>(step_ - first_step_);
  done.tokens_per_second = steps * static_cast<double>(options_.tokens_per_step) / done.seconds;
  return done;
}

void Trainer::finish_step(TrainedStep& done) {
  if (options_.evaluate && is_due(step_, options_.evaluate_every)) {
    const EvaluationMode mode(model_);
    done.evaluation = options_.evaluate();
  }
  if (options_.after_step) options_.after_step(done);
  if (!done.evaluation) return;
  const bool is_better = *done.evaluation < best_;
  worse_ = is_better ? 0 : worse_ + 1;
  best_ = std::min(best_, *done.evaluation);
  if (options_.plateau) options_.plateau->step(*done.evaluation);
  if (is_better) save_best();
}

void Trainer::set_steps(std::int64_t steps) {
  if (steps < 0) fail(kTrainer, "steps must be at least 0, got ", steps);
  options_.steps = steps;
}

bool Trainer::should_continue() {
  const bool ends = options_.ends ? options_.ends() : InterruptGuard::signal() != 0;
  const bool is_whole = step_ >= options_.steps;
  stopped_early_ = !is_whole && options_.patience > 0 && worse_ >= options_.patience;
  return !is_whole && !stopped_early_ && !ends;
}

void Trainer::run() {
  if (options_.resume || !has_run_) find_start();
  has_run_ = true;
  saved_ = -1;  // an earlier run() may have written other weights at this step
  const InterruptGuard interrupts;
  std::optional<ProgressLine> progress;
  if (options_.shows_progress) progress.emplace();
  std::optional<RunLog> log;
  if (folder_ && options_.writes) log.emplace(options_.out, step_);
  first_step_ = step_;
  start_ = Clock::now();
  std::optional<double> last_evaluation;
  model_.train();
  while (should_continue()) {
    TrainedStep done = make_step();
    // The evaluation in finish_step() may print, so the progress line must not be on the terminal.
    if (progress && is_due(step_, options_.evaluate_every)) progress->clear();
    finish_step(done);
    if (log) log->write(done);
    if (done.evaluation) last_evaluation = done.evaluation;
    if (is_due(step_, options_.save_every)) save();
    const double a_step = done.seconds / static_cast<double>(step_ - first_step_);
    const double seconds_left = a_step * static_cast<double>(options_.steps - step_);
    done.evaluation = last_evaluation;
    if (progress) progress->show_when_due(progress_text(done, options_.steps, seconds_left));
  }
  save();
}

// How a Trainer finds and writes checkpoints.

namespace {

std::filesystem::path best_of(const std::filesystem::path& folder) {
  return folder / "best.safetensors";
}

}  // namespace

// If there is no checkpoint of a step, the run continues from the best one.
std::filesystem::path Trainer::find_checkpoint() const {
  const auto found = folder_->steps();
  const std::int64_t last = found.empty() ? -1 : found.rbegin()->first;
  const std::int64_t step = options_.choose_checkpoint ? options_.choose_checkpoint(last) : last;
  if (step < 0) {
    const std::filesystem::path best = best_of(options_.out);
    return last < 0 && options_.keep_best && std::filesystem::exists(best) ? best : "";
  }
  const auto now = folder_->steps();  // another process may have written a checkpoint since then
  if (!now.contains(step)) fail(kTrainer, options_.out, " has no checkpoint of step ", step);
  return now.at(step);
}

// Throws an Error if a new run would remove or replace the checkpoints of another run. If the
// folder has a checkpoint of the present step, the program has loaded this checkpoint itself.
void Trainer::check_folder() const {
  const auto found = folder_->steps();
  const bool would_replace = options_.keep_best && std::filesystem::exists(best_of(options_.out));
  if ((!found.empty() || would_replace) && !found.contains(step_))
    fail(kTrainer, options_.out, " has checkpoints of another run",
         options_.resume ? "" : ": set resume, or choose a new folder");
}

void Trainer::find_start() {
  const std::filesystem::path path = options_.resume ? find_checkpoint() : "";
  if (path.empty()) {
    if (folder_ && options_.writes && !has_run_) check_folder();
    return;
  }
  const Safetensors file = load_run(path);
  if (file.metadata != options_.settings) fail(kTrainer, path, " was written with other settings");
  state.load_state_dict(file.tensors);
  if (options_.writes) folder_->clear(step_);
}

void Trainer::save() {
  if (!folder_ || !options_.writes || saved_ == step_) return;
  folder_->save(state, step_, options_.settings);
  saved_ = step_;
}

void Trainer::save_best() const {
  if (options_.keep_best && options_.writes) state.save(best_of(options_.out), options_.settings);
}

}  // namespace tend::nn
