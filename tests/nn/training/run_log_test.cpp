// Progress lines, and logs that another process has left. The trainer's tests check the content of
// logs.
#include <tend/core/base/error.h>
#include <tend/nn/training/run_log.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/examples/process.h"

using namespace tend;
using tend::test::content;
using tend::test::TemporaryFolder;

TEST_CASE("a progress line shows step and loss and rate and norm and tokens and remaining time") {
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

TEST_CASE("a run that continues first removes broken and later lines of its log") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("log.jsonl")) << "{\"step\":1}\nnonsense\n{\"step\":2}\n{\"step\":9}\n"
                                             "{\"loss\":1}\n{\"step\":\"1\"}\n1\n{\"st";
  std::ofstream(folder.file("log.csv")) << "old head\n1,2,3,4,5,6,\n3,1,1,1,1,1,\n"
                                           "one,2,3,4,5,6,\n12,1,1,1";
  const nn::RunLog log(folder.path(), 2);
  log.write({.step = 3, .loss = 0.5, .lr = 0.25, .grad_norm = 2, .seconds = 1, .evaluation = 4});
  CHECK(content(folder.file("log.jsonl")) ==
        "{\"step\":1}\n{\"step\":2}\n{\"step\":3,\"loss\":0.5,\"lr\":0.25,\"grad_norm\":2.0,"
        "\"seconds\":1.0,\"tokens_per_second\":0.0,\"evaluation\":4.0}\n");
  CHECK(content(folder.file("log.csv")) ==
        "step,loss,lr,grad_norm,seconds,tokens_per_second,evaluation\n1,2,3,4,5,6,\n"
        "3,0.5,0.25,2.0,1.0,0.0,4.0\n");
  CHECK_THROWS_AS(nn::RunLog("/nowhere/at/all", 0), IoError);
}
