// How a transformer learns a causal structure. Each symbol of a sequence depends on its parent in a
// tree. The tree is the same for all sequences, but the transition probabilities are new for each
// sequence. To predict the symbol after the last one, the first layer of attention finds the parent
// of each symbol. The second layer counts the symbols whose parents equal the last symbol. E.
// Nichani, A. Damian, J. Lee 2024, https://arxiv.org/abs/2402.14735, task 2.4 on a random tree.
//
// In their disentangled transformer, the output of an attention is concatenated to its input, and
// one matrix computes the scores. All weights begin at 0. The settings are the published ones
// except for a momentum of 0.95. Without momentum, the loss does not leave the first plateau in
// 4,000 steps.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"

namespace {

using tend::Tensor;

constexpr std::int64_t kSymbols = 10, kLength = 20, kWidth = kSymbols + kLength;
constexpr float kAlpha = 0.1F;

struct Batch {
  Tensor symbols;  // (sequence, kLength)
  Tensor next;     // the probabilities of the symbol after the last one, (sequence, kSymbols)
};

/// Makes sequences of symbols. `parents` are the parents of all positions except the first and the
/// last, which have no parent.
Batch make_batch(std::int64_t count, const Tensor& parents, std::mt19937& engine) {
  // Gamma-distributed numbers, divided by their sum, have Dirichlet's distribution.
  std::gamma_distribution<float> gamma(kAlpha);
  std::vector<float> weights(static_cast<std::size_t>(count * kSymbols * kSymbols));
  for (float& weight : weights) weight = gamma(engine);
  Tensor chances = tend::tensor(weights, {count, kSymbols, kSymbols});
  chances /= chances.sum(2, true);
  const auto after = [&](const Tensor& symbol) {
    return chances.gather(1, symbol.unsqueeze(2).expand({count, 1, kSymbols})).squeeze(1);
  };
  Tensor many_steps = chances;
  for (int i = 0; i < 6; ++i) many_steps = matmul(many_steps, many_steps);
  std::vector<Tensor> symbols{multinomial(many_steps.mean(1), 1)};
  for (const std::int64_t parent : parents.to_vector<std::int64_t>())
    symbols.push_back(multinomial(after(symbols[static_cast<std::size_t>(parent)]), 1));
  symbols.push_back(tend::randint(0, kSymbols, {count, 1}));
  return {tend::cat(symbols, 1), after(symbols.back())};
}

struct Transformer : tend::nn::Module<Transformer> {
  Transformer()
      : first(tend::zeros({kWidth, kWidth})),
        second(tend::zeros({2 * kWidth, 2 * kWidth})),
        out(tend::zeros({4 * kWidth, kSymbols})) {}

  /// The logits of the symbol after the last one, (sequence, kSymbols).
  Tensor forward(const Tensor& symbols) const {
    const Tensor places = tend::eye(kLength).expand({symbols.size(0), kLength, kLength});
    const Tensor x = tend::cat({one_hot(symbols, kSymbols).to(tend::float32), places}, 2);
    const Tensor causal = tend::ones({kLength, kLength}, tend::boolean).tril();
    const Tensor scores = matmul(matmul(x, first), x.mT());
    const Tensor pattern = hook_pattern(tend::attention::masked_softmax(scores, causal));
    const Tensor middle = tend::cat({x, matmul(pattern, x)}, 2);
    const Tensor last = middle.narrow(1, kLength - 1, 1);
    const Tensor weights = softmax(matmul(matmul(last, second), middle.mT()), 2);
    return hook_logits(matmul(tend::cat({last, matmul(weights, middle)}, 2), out).squeeze(1));
  }

  tend::lens::HookPoint hook_pattern{"hook_pattern"}, hook_logits{"hook_logits"};
  TEND_PARAMETER(first);   // the matrix of the scores in the first layer
  TEND_PARAMETER(second);  // the matrix of the scores in the second layer
  TEND_PARAMETER(out);
};

lab::Findings run(const lab::Call& call) {
  tend::manual_seed(call.seed);
  std::mt19937 engine(static_cast<std::mt19937::result_type>(call.seed));
  const Tensor parents = (tend::rand({kLength - 2}) * tend::arange(1, kLength - 1)).to(tend::int64);
  const std::int64_t steps = call.quick ? 40 : 4000;
  const Batch test = make_batch(call.quick ? 500 : 10'000, parents, engine);

  Transformer model;
  tend::optim::SGD optimizer(model.parameters(), {.lr = 1, .momentum = 0.95});
  tend::optim::CosineAnnealingLR schedule(optimizer, steps);
  const auto pattern = [](const auto& each) { return each["hook_pattern"].mean(0); };
  const auto loss = [&](const auto& each) { return cross_entropy(each["hook_logits"], test.next); };
  const std::vector<tend::lens::WatchedScore> scores{{"pattern", {"hook_pattern"}, pattern},
                                                     {"loss", {"hook_logits"}, loss}};
  tend::lens::Watch watch(model, test.symbols, scores, steps / 20);
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (watch(step)) lab::show_progress("step " + std::to_string(step));
    const Batch batch = make_batch(1024, parents, engine);
    optimizer.zero_grad();
    cross_entropy(model(batch.symbols), batch.next).backward();
    optimizer.step();
    schedule.step();
  }

  const Tensor patterns = watch.values("pattern");
  const Tensor tree = one_hot(parents, kLength).to(tend::float64);
  const Tensor of_children = patterns.narrow(1, 1, kLength - 2);
  const std::vector<double> weights = (of_children * tree).sum(2).mean(1).to_vector<double>();
  const auto right = (of_children[-1].argmax(1) == parents).sum().item<std::int64_t>();
  const std::vector<double> losses = watch.values("loss").to_vector<double>();
  const std::vector<double> x(watch.steps().begin(), watch.steps().end());
  // The number of times that each symbol is a child of the last symbol.
  const Tensor last = test.symbols.narrow(1, kLength - 1, 1);
  const Tensor is_used = (test.symbols.index_select(1, parents) == last).unsqueeze(2);
  const Tensor children = one_hot(test.symbols, kSymbols).narrow(1, 1, kLength - 2);
  const Tensor counts = (children * is_used).sum(1).to(tend::float32);
  // Bayes' predictor, except that it ignores the first symbol.
  const double bayes = cross_entropy((counts + kAlpha).log(), test.next).item();
  // In the paper's construction, logits are the shares of the counts times a number.
  const Tensor shares = counts / counts.sum(1, true).clamp_min(1);
  double built = 10;
  for (int tenths = 10; tenths < 60; ++tenths)
    built = std::min(built, cross_entropy(tenths * 0.1 * shares, test.next).item());

  lab::Findings findings;
  findings.compare("loss, compared with the paper's construction", built, losses.back(), 0.02);
  findings.compare("loss, compared with Bayes' predictor", bayes, losses.back(), 0.02);
  findings.compare_text("positions that attend most to their parent", "18 of 18",
                        std::to_string(right) + " of 18");
  findings.compare("mean weight of the parent", 1, weights.back(), 0.1);
  const tend::nn::Curve level{"Bayes' predictor", {0, x.back()}, {bayes, bayes}};
  findings.show("Loss", tend::nn::Chart{{{"", {{"transformer", x, losses}, level}}}});
  findings.show("Weight of the parent", tend::nn::Chart{{{"", {{"mean", x, weights}}}}});
  tend::nn::Maps maps{{{"step", {"the tree"}, x.size()}}, {}, {}, {}, "position", "attends to"};
  for (const double step : x) maps.choices[0].names.push_back(lab::number(step, 0));
  for (std::int64_t i = 0; i < kLength; ++i) maps.rows.push_back(std::to_string(i));
  maps.columns = maps.rows;
  const Tensor all = tend::cat({tend::pad(tree, {0, 0, 1, 1}).unsqueeze(0), patterns});
  maps.values = all.to_vector<double>();
  findings.show("The first layer's attention", maps,
                "The mean over sequences. The first and the last position have no parent.");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "causal",
       .title = "How a transformer learns a causal structure",
       .question = "Does the first layer's attention become the tree that made the data?",
       .source = "E. Nichani, A. Damian, J. Lee 2024, https://arxiv.org/abs/2402.14735",
       .settings = {{"training", "4,000 steps of 1,024, SGD, rate 1 cosine, momentum 0.95"}}});
  return program.run(argc, argv, run);
}
