// Unusual runs of a Trainer: reset to an earlier step, continued in another folder, or with an
// optimizer of only a part of the model.
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/examples/process.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;
using tend::test::TemporaryFolder;

namespace {

struct Rig {
  nn::Linear model{1, 1};
  optim::SGD optimizer{model.parameters(), 0.01};
  std::function<Tensor()> loss = [this] { return model(ones({1, 1})).square().mean(); };

  std::int64_t train(const nn::TrainerOptions& options) {
    nn::Trainer trainer(model, optimizer, loss, options);
    trainer.run();
    return trainer.steps_done();
  }
};

}  // namespace

TEST_CASE("gradients of parameters that the optimizer does not have are also zeroed") {
  nn::Sequential model{nn::Linear(2, 2), nn::Linear(2, 1)};
  const std::vector<Tensor> all = model.parameters();
  optim::SGD optimizer({all[2], all[3]}, 0.0);
  std::vector<double> norms;
  nn::Trainer trainer(model, optimizer,
                      [&] {
                        return model(ones({1, 2})).square().mean();
                      },
                      {.steps = 3, .after_step = [&](const nn::TrainedStep& done) {
                         norms.push_back(done.grad_norm);
                       }});
  trainer.run();
  CHECK(norms == std::vector<double>(3, norms[0]));
}

TEST_CASE("a run that went back to an earlier step replaces its later checkpoints") {
  const TemporaryFolder folder;
  const std::string out = folder.file("run");
  Rig rig;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss,
                      {.steps = 10, .out = out, .save_every = 5});
  trainer.run();
  trainer.state.load(out + "/step-00000005.safetensors");
  rig.optimizer.set_lr(0.5);
  trainer.run();
  const nn::Safetensors last = nn::load_run(out + "/step-00000010.safetensors");
  CHECK(equal(last.tensors.at("weight"), rig.model.weight.detach()));
}

TEST_CASE("a trainer accepts only folders whose checkpoints it wrote or resumed") {
  const TemporaryFolder folder;
  const std::string theirs = folder.file("theirs"), own = folder.file("own");
  Rig().train({.steps = 100, .out = theirs});
  Rig().train({.steps = 5, .out = own});
  Rig rig;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss, {.steps = 7, .out = theirs});
  trainer.state.load(own + "/step-00000005.safetensors");
  CHECK_THROWS_WITH(trainer.run(), ContainsSubstring("another run"));
  CHECK(std::filesystem::exists(theirs + "/step-00000100.safetensors"));

  nn::Trainer fresh(rig.model, rig.optimizer, rig.loss, {.out = folder.file("fresh")});
  fresh.run();
  fresh.set_steps(5);
  fresh.run();
  CHECK(fresh.steps_done() == 5);
}

TEST_CASE("patience also counts evaluations that a callback sets") {
  Rig rig;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss,
                      {.steps = 20, .patience = 2, .after_step = [](nn::TrainedStep& done) {
                         done.evaluation = 1.0 + static_cast<double>(done.step);
                       }});
  trainer.run();
  CHECK(trainer.steps_done() == 3);
  CHECK(trainer.best_evaluation() == 2);
}
