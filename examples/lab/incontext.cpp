// In-context learning is gradient descent: a head of linear attention is trained to predict a value
// from ten examples. It learns to compute the same as one step of gradient descent on the examples.
// J. von Oswald et al. 2023, https://arxiv.org/abs/2212.07677, figure 2. The settings are the
// authors', but with 5,000 instead of 10,000 steps, because nothing changes after step 1,000.
//
// A task is a random linear function. Its tokens are ten pairs (x, y) and a test point (x, 0). The
// test point is the query, the pairs are keys and values, and the head's output in place of the 0
// is the prediction. The gradient step belongs to a linear model whose weights are 0 before the
// step.

#include <cmath>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"

namespace {

using tend::Tensor;

constexpr std::int64_t kPairs = 10, kSize = 10, kWidth = kSize + 1;

// The best learning rate for the step. Prediction and target are linear in the function's weights,
// whose covariance is the identity. So with S = mean(x x^T) over the pairs, the best rate is
// E trace(S) / E trace(S S), where E x^2 = 1 / 12 and E x^4 = 1 / 80.
constexpr double kSquare = 1.0 / 12, kFourth = kSquare * kSquare,
                 kRate = kSquare / (kFourth + (1.0 / 80 + (kSize - 2) * kFourth) / kPairs);

struct Tasks {
  Tensor tokens;   // (task, kPairs + 1, kWidth); the last token is the test point
  Tensor targets;  // (task)
};

Tasks make_tasks(std::int64_t count) {
  const Tensor x = tend::rand({count, kPairs + 1, kSize}) - 0.5;
  const Tensor y = matmul(x, tend::randn({count, kSize, 1}));
  const Tensor tokens = tend::cat({x, y}, 2);
  tokens.select(1, kPairs).select(1, kSize).zero_();
  return {tokens, y.select(1, kPairs).flatten()};
}

struct LinearAttention : tend::nn::Module<LinearAttention> {
  LinearAttention() : weights(tend::empty({4, kWidth, kWidth})) {
    const double std = std::sqrt(0.002 / kWidth);
    tend::nn::init::trunc_normal_(weights, 0, std, -2 * std, 2 * std);
  }

  /// The predictions, (task): the sum over the pairs of (test A pair) (pair B)_y.
  Tensor forward(const Tensor& tokens) const {
    const Tensor pairs = tokens.narrow(1, 0, kPairs), test = tokens.narrow(1, kPairs, 1);
    const Tensor scores = matmul(matmul(test, weights[0]), matmul(pairs, weights[1]).mT());
    const Tensor attended = matmul(scores, matmul(pairs, weights[2]));
    return matmul(attended, weights[3]).select(2, kSize).flatten();
  }
  Tensor A() const { return matmul(weights[0], weights[1].t()).detach(); }
  Tensor B() const { return matmul(weights[2], weights[3]).detach(); }

  TEND_PARAMETER(weights);  // of query, key, value and output, (4, kWidth, kWidth)
};

Tensor loss_of(const Tensor& predictions, const Tensor& targets) {
  return 0.5 * (predictions - targets).square().mean();
}

/// Compares the layer with the gradient step. Returns their two losses, the cosine of their
/// sensitivities, and the mean difference of their predictions. A sensitivity is the derivative of
/// a prediction with respect to its test point.
std::vector<double> compare(const LinearAttention& model, const Tasks& tasks) {
  Tensor tokens = tasks.tokens.detach();
  const Tensor predicted = model(tokens.requires_grad_());
  const Tensor gradient = tend::autograd::grad(predicted.sum(), tokens);
  const tend::NoGradGuard no_grad;
  const Tensor sensitivity = gradient.select(1, kPairs).narrow(1, 0, kSize);
  const Tensor pairs = tokens.narrow(1, 0, kPairs);
  // The linear model's weights after the step are also its sensitivity.
  const Tensor weights = kRate * (pairs.narrow(2, 0, kSize) * pairs.narrow(2, kSize, 1)).mean(1);
  const Tensor stepped = (weights * tokens.select(1, kPairs).narrow(1, 0, kSize)).sum(1);
  return {loss_of(predicted, tasks.targets).item(), loss_of(stepped, tasks.targets).item(),
          cosine_similarity(sensitivity, weights).mean().item(),
          (predicted - stepped).abs().mean().item()};
}

lab::Findings run(const lab::Call& call) {
  tend::manual_seed(call.seed);
  LinearAttention model;
  tend::optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  const Tasks test = make_tasks(10'000);
  std::vector<double> x, y[4];
  const std::vector<std::string> names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "y"};
  tend::nn::Maps maps{{{"step", {}}, {"matrix", {"A", "B"}}}, names, names, {}};
  const std::int64_t steps = call.quick ? 500 : 5000;
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (step % 50 == 0) {
      const std::vector<double> now = compare(model, test);
      x.push_back(static_cast<double>(step));
      for (std::size_t i = 0; i < now.size(); ++i) y[i].push_back(now[i]);
      lab::show_progress("step " + std::to_string(step) + ", loss " + lab::number(now[0]));
    }
    if (step % 250 == 0 && step <= 1500) {
      maps.choices[0].names.push_back(std::to_string(step));
      for (const Tensor& matrix : {model.A().flatten(), model.B().flatten()}) {
        const auto values = (matrix / matrix[matrix.abs().argmax()]).to_vector<float>();
        maps.values.insert(maps.values.end(), values.begin(), values.end());
      }
    }
    const Tasks tasks = make_tasks(2048);
    optimizer.zero_grad();
    loss_of(model(tasks.tokens), tasks.targets).backward();
    optimizer.step();
  }

  lab::Findings findings;
  // Adam's steps have a constant size, so the weights keep moving around the best ones.
  const double loss = y[1].back();
  findings.compare("loss of the trained layer, compared with the gradient step", loss, y[0].back(),
                   0.01 * loss);
  findings.compare("cosine of the sensitivities", 1, y[2].back(), 0.01);
  // The tolerance is a tenth of the mean size of a prediction.
  findings.compare("difference of the predictions", 0, y[3].back(), 0.05);
  // The tolerance is 5 %: such an error of the rate raises the loss of the gradient step by 0.3 %.
  const double diagonal = model.A().diagonal().narrow(0, 0, kSize).mean().item();
  findings.compare("learning rate that the layer's weights correspond to", kRate,
                   kPairs * diagonal * model.B()[{kSize, kSize}].item(), 0.05 * kRate);
  findings.show("Training",
                tend::nn::Chart{{{"loss", {{"trained layer", x, y[0]}, {"gradient step", x, y[1]}}},
                                 {"similarity",
                                  {{"cosine of the sensitivities", x, y[2]},
                                   {"difference of the predictions", x, y[3]}}}},
                                "show"},
                "Measured on 10,000 tasks that are not trained on. A sensitivity is the derivative "
                "of a prediction with respect to its test point.");
  maps.choices[0].first = maps.choices[0].names.size() - 1;
  findings.show("The layer's matrices", maps,
                "A prediction is the sum over the pairs of (test A pair) (pair B)_y. For gradient "
                "descent, A is the identity from x to x and 0 from x to y, and B's last column is "
                "0 above (y, y). The other entries have no effect. Each matrix is divided by its "
                "largest entry.");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "incontext",
       .title = "In-context learning is gradient descent",
       .question = "Does a trained layer of linear attention compute a step of gradient descent?",
       .source = "J. von Oswald et al. 2023, https://arxiv.org/abs/2212.07677, figure 2",
       .settings = {{"training", "5,000 steps of 2,048 tasks of 10 pairs, Adam 1e-3"}}});
  return program.run(argc, argv, run);
}
