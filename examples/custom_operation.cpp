// Defines an operation with its derivative, checks the derivative, and trains a network with it.

#include <iostream>
#include <string>

#include <tend/autograd/tools/function.h>
#include <tend/autograd/tools/gradcheck.h>
#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Tensor;

/// x sigmoid(slope x). Saves only x for backward. The derivative consists of operations that can be
/// differentiated, so second derivatives work, too.
class ScaledSwish : public tend::autograd::Function<ScaledSwish> {
 public:
  explicit ScaledSwish(double slope) : slope_(slope) {}

  Tensor forward(tend::autograd::FunctionContext& context, const Tensor& x) const {
    context.save_for_backward({x});
    return x * sigmoid(x * slope_);
  }
  Tensor backward(const tend::autograd::FunctionContext& context, const Tensor& grad) const {
    const Tensor x = context.saved(0), gate = sigmoid(x * slope_);
    return grad * (gate + x * slope_ * gate * (1 - gate));
  }

 private:
  double slope_;
};

/// A network with ScaledSwish between its two layers.
class Net : public tend::nn::Module<Net> {
 public:
  Net() : first(1, 16), second(16, 1) {}
  Tensor forward(const Tensor& x) const { return second(ScaledSwish(1.5).apply(first(x))); }

  TEND_MODULE(tend::nn::Linear, first);
  TEND_MODULE(tend::nn::Linear, second);
};

int run(const std::string& json_path, std::uint64_t seed, std::int64_t steps) {
  program::check_can_write(json_path);
  tend::manual_seed(seed);
  const Tensor points = tend::randn({4, 3}, {.dtype = tend::float64, .requires_grad = true});
  const auto operation = [](const std::vector<Tensor>& inputs) {
    return ScaledSwish(1.5).apply(inputs[0]);
  };
  const bool first_right = tend::gradcheck(operation, {points}).passed;
  const bool second_right = tend::gradgradcheck(operation, {points}).passed;
  std::cout << "first derivative " << (first_right ? "right" : "wrong") << ", second "
            << (second_right ? "right" : "wrong") << '\n';

  Net net;
  tend::optim::Adam optimizer(net.parameters(), {.lr = 0.02});
  const Tensor x = tend::linspace(-3, 3, 200).unsqueeze(1), y = x.sin();
  double loss = 0;
  tend::nn::Trainer trainer(
      net, optimizer, [&] { return tend::mse_loss(net(x), y); },
      {.steps = steps, .after_step = [&](const tend::nn::TrainedStep& done) { loss = done.loss; }});
  trainer.run();
  std::cout << "mean squared error of sin(x) after " << steps << " steps: " << loss << '\n';
  const nlohmann::ordered_json results{
      {"first_right", first_right}, {"second_right", second_right}, {"loss", loss}};
  program::write_results(json_path, [&] { return results.dump(1); });
  return first_right && second_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("custom_operation",
                            "Defines an operation, checks its derivative, and trains with it");
  std::string json_path;
  std::uint64_t seed = 0;
  std::int64_t steps = 500;
  line.add_json(json_path);
  line.add_whole("--seed", seed, "Seed of points and weights (0)");
  line.add_threads();
  line.add_whole("--steps", steps, "Training steps (500)", 1, 1'000'000);
  return line.run(argc, argv, [&] { return run(json_path, seed, steps); });
}
