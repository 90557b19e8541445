// The line that shows how far a run is. What the files hold is tested with the trainer.
#include <tend/nn/training/run_log.h>

#include "tests/catch.h"

using namespace tend;

TEST_CASE("a progress line shows step, loss, rate, norm, tokens and the time that is left") {
  nn::TrainedStep step{.step = 20,
                       .loss = 1.23456,
                       .lr = 0.00123456,
                       .grad_norm = 2.3456,
                       .seconds = 3,
                       .tokens_per_second = 5000.4,
                       .evaluation = 1.3};
  CHECK(nn::progress_text(step, 100, 12.4) ==
        "step 20/100  loss 1.2346  evaluation 1.3000  lr 0.00123  norm 2.35  5000 tokens/s  12 s "
        "left");
  step.evaluation.reset();
  step.tokens_per_second = 0;
  step.lr = 1e-6;
  step.grad_norm = 1234567;
  CHECK(nn::progress_text(step, 100, 0.4) ==
        "step 20/100  loss 1.2346  lr 1e-06  norm 1.23e+06  0 s left");
}
