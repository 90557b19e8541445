// How a Trainer finds and writes checkpoints.
#include <tend/nn/training/trainer.h>

namespace tend::nn {

using detail::kTrainer;

std::filesystem::path Trainer::find_checkpoint() const {
  const auto found = folder_->steps();
  if (!options_.choose_checkpoint) return found.empty() ? "" : found.rbegin()->second;
  const std::int64_t step = options_.choose_checkpoint(found.empty() ? -1 : found.rbegin()->first);
  if (step < 0) return {};
  const auto now = folder_->steps();  // what another process has written meanwhile is among them
  if (!now.contains(step)) fail(kTrainer, options_.out, " has no checkpoint of step ", step);
  return now.at(step);
}

// A run that begins anew would remove the checkpoints of another. One that loaded a state has its
// checkpoint there.
void Trainer::check_folder() const {
  const auto found = folder_->steps();
  if (!found.empty() && (step_ == 0 || !found.contains(step_)))
    fail(kTrainer, options_.out,
         " holds checkpoints of another run: resume it, or give a new folder");
}

void Trainer::resume() {
  if (!options_.resume && folder_ && options_.writes && !owns_folder_) check_folder();
  owns_folder_ = true;
  const std::filesystem::path path = options_.resume ? find_checkpoint() : "";
  if (path.empty()) return;
  const Safetensors file = load_run(path);
  if (file.metadata != options_.settings) fail(kTrainer, path, " was written with other settings");
  state.load_state_dict(file.tensors);
  saved_ = step_;
  schedule_is_due_ = false;
  if (options_.writes) folder_->clear(step_);
}

void Trainer::save() {
  if (!folder_ || !options_.writes || saved_ == step_) return;
  folder_->save(state, step_, options_.settings);
  saved_ = step_;
}

void Trainer::save_best() {
  if (options_.keep_best && options_.writes)
    state.save(options_.out / "best.safetensors", options_.settings);
}

}  // namespace tend::nn
