#include <tend/nn/training/trainer_options.h>

#include <tend/core/base/error.h>

namespace tend::nn {

void detail::check_options(const TrainerOptions& o) {
  const auto at_least = [](const char* name, std::int64_t value, std::int64_t least) {
    if (value < least) fail(kTrainer, name, " must be at least ", least, ", got ", value);
  };
  if (!(o.clip_norm >= 0)) fail(kTrainer, "clip_norm must be at least 0, got ", o.clip_norm);
  at_least("steps", o.steps, 0);
  at_least("accumulate", o.accumulate, 1);
  at_least("tokens_per_step", o.tokens_per_step, 0);
  at_least("evaluate_every", o.evaluate_every, 0);
  at_least("patience", o.patience, 0);
  at_least("save_every", o.save_every, 0);
  at_least("keep", o.keep, 1);
  if (o.settings.contains("checksum"))
    fail(kTrainer, "settings must not have a \"checksum\": each file has its own");
  if (o.out.empty() && (o.save_every > 0 || o.resume || o.keep_best))
    fail(kTrainer, "checkpoints need a folder: set out");
  if (o.evaluate && o.evaluate_every == 0)
    fail(kTrainer, "evaluate would never be called: evaluate_every is 0");
  if (!o.evaluate && o.evaluate_every > 0)
    fail(kTrainer, "evaluate_every needs the function evaluate");
  if ((o.patience > 0 || o.keep_best || o.plateau) && !o.evaluate && !o.after_step)
    fail(kTrainer,
         o.patience > 0 ? "patience"
         : o.keep_best  ? "keep_best"
                        : "plateau",
         " needs evaluations, from evaluate or from after_step");
}

}  // namespace tend::nn
