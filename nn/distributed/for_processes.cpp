#include <tend/nn/distributed/for_processes.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tend/nn/training/interrupt.h>

namespace tend::distributed {
namespace {

double first_of(const Context& context, double number) {
  return context.gather(number).front();
}

}  // namespace

int signal_of_any(const Context& context) {
  const std::vector<double> signals =
      context.gather(static_cast<double>(nn::InterruptGuard::signal()));
  const int signal = static_cast<int>(*std::max_element(signals.begin(), signals.end()));
  if (signal != 0) nn::InterruptGuard::note(signal);
  return signal;
}

nn::TrainerOptions for_processes(const Context& context, nn::TrainerOptions options) {
  options.writes = options.writes && context.is_first();
  options.shows_progress = options.shows_progress && context.is_first();
  // A signal may reach some processes a step later than others, or not at all.
  options.ends = [&context, own = std::move(options.ends)] {
    const bool ends = own && context.sum(own() ? 1 : 0) > 0;
    return signal_of_any(context) != 0 || ends;
  };
  // Running statistics, such as BatchNorm's, differ between processes. So the evaluations may
  // differ, too.
  if (options.evaluate) {
    options.evaluate = [&context, own = std::move(options.evaluate)] {
      return first_of(context, own());
    };
  }
  if (options.after_step) {
    options.after_step = [&context, own = std::move(options.after_step)](nn::TrainedStep& done) {
      own(done);
      const bool has_one = first_of(context, done.evaluation ? 1 : 0) > 0;
      const double first = first_of(context, done.evaluation.value_or(0));
      done.evaluation = has_one ? std::optional(first) : std::nullopt;
    };
  }
  options.choose_checkpoint = [&context,
                               own = std::move(options.choose_checkpoint)](std::int64_t step) {
    const std::int64_t chosen = own ? own(step) : step;
    return static_cast<std::int64_t>(first_of(context, static_cast<double>(chosen)));
  };
  return options;
}

}  // namespace tend::distributed
