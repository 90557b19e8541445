// How a Trainer finds and writes checkpoints.
#include <limits>
#include <system_error>

#include <tend/nn/files/safetensors_file.h>
#include <tend/nn/files/write_file.h>
#include <tend/nn/training/trainer.h>

namespace tend::nn {

using detail::kTrainer;

namespace {

std::filesystem::path best_of(const std::filesystem::path& folder) {
  return folder / "best.safetensors";
}

bool is_there(const std::filesystem::path& path) {
  std::error_code no_exception;
  return std::filesystem::exists(path, no_exception);
}

}  // namespace

// Without one of a step, the best one is the last.
std::filesystem::path Trainer::find_checkpoint() const {
  const auto found = folder_->steps();
  const std::int64_t last = found.empty() ? -1 : found.rbegin()->first;
  const std::int64_t step = options_.choose_checkpoint ? options_.choose_checkpoint(last) : last;
  if (step < 0) {
    const std::filesystem::path best = best_of(options_.out);
    return last < 0 && options_.keep_best && is_there(best) ? best : "";
  }
  const auto now = folder_->steps();  // what another process has written meanwhile is among them
  if (!now.contains(step)) fail(kTrainer, options_.out, " has no checkpoint of step ", step);
  return now.at(step);
}

// A run that begins anew would remove or replace the checkpoints of another. One that loaded a
// state has its checkpoint there.
void Trainer::check_folder() const {
  const auto found = folder_->steps();
  const bool would_remove = !found.empty();
  const bool would_replace = options_.keep_best && is_there(best_of(options_.out));
  if ((would_remove || would_replace) && (step_ == 0 || !found.contains(step_)))
    fail(kTrainer, options_.out, " holds checkpoints of another run",
         options_.resume ? "" : ": resume it, or give a new folder");
}

void Trainer::resume() {
  const std::filesystem::path path = options_.resume ? find_checkpoint() : "";
  if (path.empty() && folder_ && options_.writes && !owns_folder_) check_folder();
  best_saved_ = best_in_folder();
  if (!path.empty()) {
    const Safetensors file = load_run(path);
    if (file.metadata != options_.settings)
      fail(kTrainer, path, " was written with other settings");
    state.load_state_dict(file.tensors);
    saved_ = path == best_of(options_.out) ? -1 : step_;
    best_step_ = -1;
    schedule_due_at_ = -1;
    if (options_.writes) {
      folder_->clear(step_);
      remove_leftovers(options_.out, "best.safetensors");
    }
  }
  owns_folder_ = true;
}

void Trainer::save() {
  if (!folder_ || !options_.writes || saved_ == step_) return;
  folder_->save(state, step_, options_.settings);
  saved_ = step_;
}

// Also in the run after one that ended before it was written.
void Trainer::save_best() {
  if (!options_.keep_best || !options_.writes || best_step_ != step_ || !(best_ < best_saved_))
    return;
  state.save(best_of(options_.out), options_.settings);
  best_saved_ = best_;
}

// Infinity where there is none.
double Trainer::best_in_folder() const {
  const std::filesystem::path best = best_of(options_.out);
  if (!options_.keep_best || !is_there(best)) return std::numeric_limits<double>::infinity();
  constexpr const char* kBest = "training.best_evaluation";
  const SafetensorsFile file(best);
  if (!file.contains(kBest))
    fail(kTrainer, best, " is no checkpoint, and would be replaced by one");
  const Tensor value = file.load(kBest);
  if (value.numel() != 1 || value.dtype() != float64)
    fail(kTrainer, best, ": ", kBest, " is ", value.shape(), ' ', value.dtype(),
         ", not one number in float64");
  return value.item<double>();
}

}  // namespace tend::nn
