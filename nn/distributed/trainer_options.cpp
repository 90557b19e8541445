#include <tend/nn/distributed/trainer_options.h>

#include <cstdint>
#include <optional>
#include <utility>

#include <tend/nn/training/interrupt.h>

namespace tend::distributed {

nn::TrainerOptions for_processes(const Context& context, nn::TrainerOptions options) {
  options.writes = context.is_first();
  options.shows_progress = options.shows_progress && context.is_first();
  // A signal comes to some processes a step later than to others, or not at all.
  options.ends = [&context, own = std::move(options.ends)] {
    const bool ends = own ? own() : nn::InterruptGuard::signal() != 0;
    return context.sum(ends ? 1 : 0) > 0;
  };
  // Statistics that a forward keeps, as BatchNorm does, differ between processes, and so may what
  // they find.
  if (options.evaluate) {
    options.evaluate = [&context, own = std::move(options.evaluate)] {
      return context.gather(own()).front();
    };
  }
  if (options.after_step) {
    options.after_step = [&context, own = std::move(options.after_step)](nn::TrainedStep& done) {
      own(done);
      const bool has_one = context.gather(done.evaluation ? 1 : 0).front() > 0;
      const double first = context.gather(done.evaluation.value_or(0)).front();
      done.evaluation = has_one ? std::optional(first) : std::nullopt;
    };
  }
  options.choose_checkpoint = [&context,
                               own = std::move(options.choose_checkpoint)](std::int64_t step) {
    const std::int64_t chosen = own ? own(step) : step;
    return static_cast<std::int64_t>(context.gather(static_cast<double>(chosen)).front());
  };
  return options;
}

}  // namespace tend::distributed
