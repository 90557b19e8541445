#include "examples/train/run/course.h"

#include <tend/nn/training/interrupt.h>
#include <tend/nn/training/progress_line.h>

#include "examples/train/run/checkpoint.h"
#include "examples/train/run/outcome.h"

namespace train {

Course train_to_end(Training& training, const std::function<void()>& save) {
  tend::nn::ProgressLine progress;
  Snapshot sound(training);
  try {
    while (!training.is_complete() && tend::nn::InterruptGuard::signal() == 0) {
      const std::size_t validations = training.history.validations.size();
      training.step();
      if (training.history.validations.size() > validations) sound = Snapshot(training);
      save();
      if (progress.is_due()) progress.show(progress_line(standing(training)));
    }
  } catch (const NotFinite& error) {
    const History history = training.history;
    sound.restore(training);
    return {history, error.what()};
  }
  return {training.history, ""};
}

}  // namespace train
