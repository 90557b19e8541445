#include <tend/nn/distributed/trainer_options.h>

#include <algorithm>
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
  return options;
}

}  // namespace tend::distributed
