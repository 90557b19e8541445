// How a Trainer finds and writes checkpoints.
#include <tend/nn/training/trainer.h>

namespace tend::nn {

using detail::kTrainer;

namespace {

std::filesystem::path best_of(const std::filesystem::path& folder) {
  return folder / "best.safetensors";
}

}  // namespace

// Without one of a step, the best one is the last.
std::filesystem::path Trainer::find_checkpoint() const {
  const auto found = folder_->steps();
  const std::int64_t last = found.empty() ? -1 : found.rbegin()->first;
  const std::int64_t step = options_.choose_checkpoint ? options_.choose_checkpoint(last) : last;
  if (step < 0) {
    const std::filesystem::path best = best_of(options_.out);
    return last < 0 && options_.keep_best && std::filesystem::exists(best) ? best : "";
  }
  const auto now = folder_->steps();  // what another process has written meanwhile is among them
  if (!now.contains(step)) fail(kTrainer, options_.out, " has no checkpoint of step ", step);
  return now.at(step);
}

// A run that begins anew would remove or replace the checkpoints of another. One that loaded a
// state has its checkpoint there.
void Trainer::check_folder() const {
  const auto found = folder_->steps();
  const bool would_replace = options_.keep_best && std::filesystem::exists(best_of(options_.out));
  if ((!found.empty() || would_replace) && !found.contains(step_))
    fail(kTrainer, options_.out, " holds checkpoints of another run",
         options_.resume ? "" : ": resume it, or give a new folder");
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
