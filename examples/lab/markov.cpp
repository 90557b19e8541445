// Attention with Markov: a transformer of one layer reads a binary Markov chain. The chain goes
// from 0 to 1 with probability p, and from 1 to 0 with probability q. If p + q > 1 and the
// embedding and the head share their weights, the training is stuck: the model predicts the
// stationary distribution, as if the symbols were independent. Otherwise it learns the chain.
//
// Makkuva et al. 2024, https://arxiv.org/abs/2402.04161. The settings are from the authors' code
// for chains of first order (Markov-Simple): width 8, no norms, 16 chains of 1,024 symbols per
// step, AdamW. We train 300 steps instead of 1,000, because all runs have reached their plateau by
// then.
//
// The targets of a measured loss are the true probabilities of the next symbol, and the stationary
// distribution weights the states. So the measured loss is an expected loss, without the noise of
// random symbols.

#include <cmath>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"

namespace {

using tend::Slice;
using tend::Tensor;

constexpr std::int64_t kLength = 1024, kWidth = 8, kBatch = 16;
constexpr int kSeeds = 5;

struct Setting {
  double p, q;
  bool is_tied;
  double published;  // the published loss

  double share_of_ones() const { return p / (p + q); }
  std::string name() const {
    return "p = " + lab::number(p, 1) + ", q = " + lab::number(q, 1) + ", weights " +
           (is_tied ? "tied" : "not tied");
  }
};

double entropy(double p) {
  return -p * std::log(p) - (1 - p) * std::log(1 - p);
}

/// The lowest loss of a model that knows only the stationary distribution.
double stationary_entropy(const Setting& s) {
  return entropy(s.share_of_ones());
}

/// The lowest loss of a model that knows the chain.
double entropy_rate(const Setting& s) {
  return (1 - s.share_of_ones()) * entropy(s.p) + s.share_of_ones() * entropy(s.q);
}

/// Chains (count, kLength + 1). The first symbols come from the stationary distribution.
Tensor make_chains(const Setting& setting, std::int64_t count) {
  const auto chances = tend::rand({count, kLength + 1}).to_vector<float>();
  std::vector<std::int64_t> chains;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const bool is_first = i % (kLength + 1) == 0;
    const double one = is_first             ? setting.share_of_ones()
                       : chains.back() == 1 ? 1 - setting.q
                                            : setting.p;
    chains.push_back(chances[i] < one ? 1 : 0);
  }
  return tend::tensor(chains, {count, kLength + 1});
}

/// The authors' model without norms. Symbol 0 is the zero vector, symbol 1 is a learned vector, and
/// a vector for the position is added. The head computes one logit, for symbol 1.
struct Model : tend::nn::Module<Model> {
  explicit Model(bool is_tied)
      : symbol(tend::empty({kWidth})),
        positions(tend::empty({kLength, kWidth})),
        block({.context_length = kLength,
               .width = kWidth,
               .num_heads = 1,
               .norm = tend::attention::NormKind::none,
               .feed_forward = tend::attention::FeedForwardKind::relu,
               .out_bias = false,
               .feed_forward_bias = false}),
        head(is_tied ? symbol : tend::empty({kWidth})),
        bias(tend::zeros({1})) {
    for (const auto& [name, parameter] : named_parameters()) {
      const bool writes = name.ends_with("out_proj.weight") || name.ends_with("down.weight");
      if (name != "bias")
        tend::nn::init::normal_(parameter, 0, writes ? 0.02 / std::sqrt(2.0) : 0.02);
    }
  }
  /// The logits of the next symbol being 1, (chain, position).
  Tensor forward(const Tensor& chains) const {
    const Tensor x = chains.to(tend::float32).unsqueeze(2) * symbol + positions;
    return matmul(block(x), head) + bias;
  }

  TEND_PARAMETER(symbol);
  TEND_PARAMETER(positions);
  TEND_MODULE(tend::attention::TransformerBlock, block);
  TEND_PARAMETER(head);
  TEND_PARAMETER(bias);
};

struct Evaluation {
  double loss, one_after_zero, one_after_one;  // the last two: mean predicted probabilities
};

Evaluation evaluate(const Model& model, const Setting& setting, const Tensor& chains) {
  const tend::NoGradGuard no_grad;
  const Tensor logits = model(chains), zeros = logits[chains == 0], ones = logits[chains == 1];
  // The loss of a 1 is softplus(-logit), the loss of a 0 is softplus(logit).
  const auto expected = [](double one, const Tensor& x) {
    return one * softplus(-x).mean().item() + (1 - one) * softplus(x).mean().item();
  };
  const double share = setting.share_of_ones();
  return {(1 - share) * expected(setting.p, zeros) + share * expected(1 - setting.q, ones),
          sigmoid(zeros).mean().item(), sigmoid(ones).mean().item()};
}

struct Run {
  tend::nn::Curve losses;
  Evaluation end;
};

Run train(const Setting& setting, std::uint64_t seed, std::int64_t steps) {
  tend::manual_seed(seed);
  Model model(setting.is_tied);
  const auto decays = [](const std::string& name, const Tensor&) {
    return name != "positions" && name != "bias";
  };
  tend::optim::AdamW optimizer(tend::optim::decay_groups(model, 1e-3, decays),
                               {.lr = 2e-3, .betas = {0.9, 0.95}});
  tend::optim::OneCycleLR schedule(optimizer, {.max_lr = 2e-3,
                                               .total_steps = steps,
                                               .pct_start = 0.02,
                                               .cycle_momentum = false,
                                               .div_factor = 100,
                                               .final_div_factor = 0.05});
  const Tensor test = make_chains(setting, kBatch)[{Slice(), Slice(0, kLength)}];
  Run run{{"seed " + std::to_string(seed), {}, {}}, {}};
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (step % 20 == 0) {
      run.end = evaluate(model, setting, test);
      run.losses.x.push_back(static_cast<double>(step));
      run.losses.y.push_back(run.end.loss - entropy_rate(setting));
      lab::show_progress(setting.name() + ", seed " + std::to_string(seed) + ", step " +
                         std::to_string(step) + ", loss " + lab::number(run.end.loss));
    }
    if (step == steps) break;
    const Tensor chains = make_chains(setting, kBatch);
    optimizer.zero_grad();
    const Tensor next = chains[{Slice(), Slice(1)}].to(tend::float32);
    binary_cross_entropy_with_logits(model(chains[{Slice(), Slice(0, kLength)}]), next).backward();
    optimizer.step();
    schedule.step();
  }
  return run;
}

lab::Findings run(const lab::Call& call) {
  const std::vector<Setting> settings{
      {0.5, 0.8, true, 0.6663}, {0.5, 0.8, false, 0.6190}, {0.2, 0.3, true, 0.5446}};
  lab::Findings findings;
  // The published values have four digits.
  findings.compare("closed form: entropy of the stationary distribution, (0.5, 0.8)", 0.6663,
                   stationary_entropy(settings[0]), 5e-5);
  findings.compare("closed form: entropy rate, (0.5, 0.8)", 0.6190, entropy_rate(settings[1]),
                   5e-5);
  findings.compare("closed form: entropy rate, (0.2, 0.3)", 0.5446, entropy_rate(settings[2]),
                   5e-5);
  tend::nn::Chart chart{.views = {}, .choice = "setting"};
  lab::Table table{{"setting", "run", "1 after 0", "1 after 1"}, {}};
  for (const Setting& setting : settings) {
    tend::nn::ChartView view{setting.name(), {}};
    std::string reached;
    bool all_reached = true;
    const std::int64_t steps = call.quick ? 10 : 300;
    for (int i = 0; i < (call.quick ? 1 : kSeeds); ++i) {
      const Run done = train(setting, call.seed + static_cast<std::uint64_t>(i), steps);
      reached += (i == 0 ? "" : " ") + lab::number(done.end.loss);
      // The tolerance is a twentieth of the smallest gap between entropy rate and stationary
      // entropy, which is 0.047.
      all_reached = all_reached && std::abs(done.end.loss - setting.published) < 0.002;
      view.curves.push_back(done.losses);
      table.rows.push_back({setting.name(), done.losses.name, lab::number(done.end.one_after_zero),
                            lab::number(done.end.one_after_one)});
    }
    table.rows.push_back(
        {setting.name(), "the chain", lab::number(setting.p), lab::number(1 - setting.q)});
    const double law = stationary_entropy(setting) - entropy_rate(setting);
    view.curves.push_back({"stationary distribution", {0, static_cast<double>(steps)}, {law, law}});
    chart.views.push_back(view);
    findings.add("loss of five seeds, " + setting.name(), lab::number(setting.published), reached,
                 all_reached);
  }
  findings.show(
      "Loss above the entropy rate", chart,
      "A model that knows the chain is at 0. A model that is stuck has the loss of the stationary "
      "distribution.");
  findings.show("Predictions", table,
                "The mean probability that a model predicts for a 1, at the end of the training. A "
                "model that is stuck predicts the same after both symbols.");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program({.name = "markov",
                        .title = "Attention with Markov",
                        .question = "Does a transformer of one layer learn a Markov chain?",
                        .source = "Makkuva et al. 2024, https://arxiv.org/abs/2402.04161",
                        .settings = {{"model",
                                      "1 layer, 1 head, width 8, ReLU, no norms, weights with "
                                      "standard deviation 0.02"},
                                     {"training",
                                      "300 steps of 16 chains of 1,024, AdamW 2e-3, betas "
                                      "(0.9, 0.95), decay 1e-3, cosine, warm-up 2 %"}}});
  return program.run(argc, argv, run);
}
