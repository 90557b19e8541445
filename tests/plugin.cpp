// What a program may load while it runs, and that uses tend: see plugin_loader.cpp.
#include <tend/tend.h>

using namespace tend;

/// A step of training, in parallel where there are cores. Returns the loss; a negative number after
/// an error.
extern "C" [[gnu::visibility("default")]] double train_step() {
  try {
    manual_seed(1);
    nn::Linear model(64, 64);
    optim::SGD optimizer(model.parameters(), 0.1);
    const Tensor loss = model(randn({512, 64})).square().mean();
    loss.backward();
    optimizer.step();
    return loss.item();
  } catch (const std::exception&) {
    return -1;
  }
}
