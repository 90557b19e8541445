// Why does a network that has memorised its training data generalise much later?
//
// N. Nanda and others, Progress measures for grokking via mechanistic interpretability, 2023,
// https://arxiv.org/abs/2301.05217. The settings are from TransformerLens's demo: one layer, width
// 128, 4 heads of 32, 512 neurons with ReLU, no norms, no biases. The network learns (a + b) mod
// 113 from 30 % of the pairs, in 25,000 steps of AdamW (rate 1e-3, betas 0.9 and 0.98, decay 1).
// Each step uses all of these pairs.
//
// The default modulus here is 59, which takes four minutes on one core. With --p 113 it takes about
// twelve minutes, estimated from the first epochs.
//
// The input is three tokens, "a b =", and only the output at the last token is used. There are only
// 3 (p + 1) different residuals before the attention. So queries, keys and values are computed once
// for each residual, not for each pair. The loss and its gradients are the same as in the plain
// model.

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"
#include "examples/lab/modular.h"

namespace {

using tend::Slice;
using tend::Tensor;
using tend::nn::Chart;
using tend::nn::Curve;
using tend::nn::Maps;

constexpr std::int64_t kWidth = 128, kHeads = 4, kHidden = 512;

struct Adder : tend::nn::Module<Adder> {
  explicit Adder(std::int64_t modulus)
      : p(modulus),
        W_E(drawn(p + 1, kWidth)),
        W_pos(drawn(3, kWidth)),
        W_QKV(drawn(3 * kWidth, kWidth)),
        W_O(drawn(kWidth, kWidth)),
        W_in(drawn(kHidden, kWidth)),
        W_out(drawn(kWidth, kHidden)),
        W_U(drawn(p, kWidth)) {}

  static Tensor drawn(std::int64_t rows, std::int64_t columns) {
    return tend::randn({rows, columns}) * (0.8 / std::sqrt(kWidth));
  }

  /// The logits (n, p) of pairs (n, 2), at the token "=", whose id is p.
  Tensor forward(const Tensor& pairs) const {
    const Tensor resid_pre = (W_pos.unsqueeze(1) + W_E).flatten(0, 1), last = resid_pre[{-1}];
    const auto qkv = linear(resid_pre, W_QKV).unflatten(1, {3, kHeads, -1}).unbind(1);
    const Tensor scores = (qkv[1] * qkv[0][{-1}]).sum(-1) / std::sqrt(kWidth / kHeads);
    const Tensor tokens = tend::cat({pairs, tend::full({pairs.size(0), 1}, p)}, 1);
    const Tensor places = tokens + tend::arange(3) * (p + 1);           // rows of resid_pre
    const Tensor pattern = hook_pattern(softmax(scores[{places}], 1));  // (n, token, head)
    const Tensor z = (pattern.unsqueeze(-1) * qkv[2][{places}]).sum(1).flatten(1);
    const Tensor resid_mid = last + linear(z, W_O);
    return linear(resid_mid + linear(relu(linear(resid_mid, W_in)), W_out), W_U);
  }

  std::int64_t p;
  tend::lens::HookPoint hook_pattern{"hook_pattern"};
  TEND_PARAMETER(W_E);
  TEND_PARAMETER(W_pos);
  TEND_PARAMETER(W_QKV);
  TEND_PARAMETER(W_O);
  TEND_PARAMETER(W_in);
  TEND_PARAMETER(W_out);
  TEND_PARAMETER(W_U);
};

/// The pairs (a, b), as (n, 2), from the numbers a p + b.
Tensor pairs_of(const Tensor& numbers, std::int64_t p) {
  return tend::stack({numbers.floor_divide(p), numbers % p}, 1);
}

/// All pairs in the published order. The first 30 % are for training.
Tensor shuffled_pairs(std::int64_t p) {
  tend::manual_seed(598);
  return pairs_of(tend::randperm(p * p), p);
}

/// The loss in float64, because in float32 it cannot be between 0 and 6e-8.
Tensor loss_of(const Tensor& logits, const Tensor& answers) {
  return cross_entropy(logits.to(tend::float64), answers);
}

/// Trains the model. Returns copies of it from before training and after each hundredth of the
/// epochs.
std::vector<Adder> train(std::int64_t p, std::int64_t epochs, std::uint64_t seed) {
  const Tensor pairs = shuffled_pairs(p).narrow(0, 0, p * p * 3 / 10), answers = pairs.sum(1) % p;
  tend::manual_seed(seed);
  Adder model(p);
  tend::optim::AdamW optimizer(model.parameters(),
                               {.lr = 1e-3, .betas = {0.9, 0.98}, .weight_decay = 1});
  std::vector<Adder> snapshots{model.clone()};
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const Tensor loss = loss_of(model(pairs), answers);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (epoch % (epochs / 100) == 0) snapshots.push_back(model.clone());
    lab::show_progress("epoch " + std::to_string(epoch) + " of " + std::to_string(epochs));
  }
  return snapshots;
}

/// The training, test, restricted and excluded loss. The paper's section 5.1 defines the last two.
/// The restricted loss uses only the part of the logits at the key frequencies, and the constant.
/// The excluded loss is the loss of the training pairs without that part.
std::vector<Curve> curves_of(const std::vector<Adder>& snapshots, std::int64_t epochs,
                             const Tensor& keys) {
  const std::int64_t p = snapshots[0].p, training = p * p * 3 / 10;
  const Tensor pairs = shuffled_pairs(p), answers = pairs.sum(1) % p;
  std::vector<Curve> curves{
      {"training", {}, {}}, {"test", {}, {}}, {"restricted", {}, {}}, {"excluded", {}, {}}};
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const Tensor logits = snapshots[i](pairs).to(tend::float64);
    const Tensor part = lab::part_of_sums(logits, answers, p, keys);
    const std::int64_t epoch = static_cast<std::int64_t>(i) * (epochs / 100);
    const auto add = [&](Curve& curve, const Tensor& x, std::int64_t first, std::int64_t end) {
      curve.x.push_back(static_cast<double>(epoch));
      curve.y.push_back(loss_of(x[{Slice(first, end)}], answers[{Slice(first, end)}]).item());
    };
    add(curves[0], logits, 0, training);
    add(curves[1], logits, training, p * p);
    add(curves[2], part + logits.mean({0}), 0, p * p);
    add(curves[3], logits - part, 0, training);
  }
  return curves;
}

/// The attention of "=" to a, at the beginning and at the end, for each head and pair.
Maps attention_maps(const std::vector<Adder>& snapshots, const std::string& epochs) {
  const std::int64_t p = snapshots[0].p;
  std::vector<double> values;
  for (const Adder& model : {snapshots.front(), snapshots.back()}) {
    const auto run = tend::lens::run_with_cache(model, pairs_of(tend::arange(p * p), p));
    const Tensor heads = run.cache["hook_pattern"].select(1, 0).t();  // (head, p^2)
    for (const float share : heads.flatten().to_vector<float>()) values.push_back(share);
  }
  const auto numbers = lab::number_names(p);
  return {{{"epoch", {"0", epochs}, 1}, {"head", {"0", "1", "2", "3"}}},
          numbers,
          numbers,
          values,
          "a",
          "b"};
}

std::string text_of(const Tensor& numbers) {
  std::string text;
  for (const std::int64_t number : numbers.to_vector<std::int64_t>())
    text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

/// The first epoch at which a loss is below the bound, or infinity if there is no such epoch.
double first_below(const Curve& curve, double bound) {
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    if (curve.y[i] < bound) return curve.x[i];
  return std::numeric_limits<double>::infinity();
}

void add_rows(lab::Findings& findings, std::int64_t p, const std::vector<Curve>& curves,
              const Tensor& keys) {
  const auto text = [](double epoch) {
    return std::isinf(epoch) ? "never" : lab::number(epoch, 0);
  };
  const Curve& test = curves[1];
  const auto peak =
      static_cast<std::size_t>(std::max_element(test.y.begin(), test.y.end()) - test.y.begin());
  const double grokked = first_below(test, 0.01), fitted = first_below(test, 1),
               formed = first_below(curves[2], 1);
  findings.add("modulus and epochs", "113 and 25000",
               std::to_string(p) + " and " + text(test.x.back()), {});
  findings.compare_text("first five training pairs of p = 113", "21 31 30 98 47 10 86 21 99 83",
                        text_of(shuffled_pairs(113)[{Slice(0, 5)}].flatten()));
  // The published initial weights come from a GPU, so only the shape of the curves is compared.
  const std::string other = " (published for p = 113 and other initial weights)";
  findings.add("peak of the test loss" + other, "34.10 at epoch 1399",
               lab::number(test.y[peak], 2) + " at epoch " + text(test.x[peak]), {});
  findings.add("first epoch with a test loss below 0.01" + other + "; any epoch passes",
               "13999 to 14999", text(grokked), std::isfinite(grokked));
  findings.add("epochs at which the restricted and the test loss fall below 1",
               "the restricted loss first", text(formed) + " and " + text(fitted), formed < fitted);
  findings.add("training loss at the end" + other, "9.45e-8", lab::number(curves[0].y.back()), {});
  findings.add("test loss at the end" + other, "2.03e-7", lab::number(test.y.back()), {});
  findings.add("key frequencies" + other, "17 25 32 47", text_of(keys + 1), {});
}

lab::Findings run(const lab::Call& call, std::int64_t p, std::int64_t epochs) {
  const std::vector<Adder> snapshots = train(p, epochs, call.seed);
  const tend::NoGradGuard no_grad;
  const auto spectrum_of = [&](const Adder& model) {
    return lab::spectrum(model.W_E[{Slice(0, p)}]);
  };
  // The frequencies with more than the average share of the embedding's power at the end.
  const Tensor share = spectrum_of(snapshots.back());
  const Tensor keys = (share > share.mean()).nonzero().squeeze(1);
  const std::vector<Curve> curves = curves_of(snapshots, epochs, keys);
  lab::Findings findings;
  add_rows(findings, p, curves, keys);
  findings.show(
      "Loss",
      Chart{.views = {{"", {curves[0], curves[1]}}}, .has_log_scale = true, .x_name = "epoch"},
      "The network soon memorises the training pairs, while the test loss rises. Much later "
      "the test loss falls.");
  findings.show(
      "Restricted and excluded loss",
      Chart{.views = {{"", {curves.begin() + 1, curves.end()}}},
            .has_log_scale = true,
            .x_name = "epoch"},
      "The restricted loss uses only the key frequencies. It shows that the algorithm forms before "
      "the test loss falls. The excluded loss is the loss of the training pairs without the key "
      "frequencies. It rises when the network stops memorising.");
  Chart spectra{.views = {}, .choice = "epoch", .has_bars = true, .x_name = "frequency"};
  for (const std::size_t i : {0U, 10U, 25U, 50U, 75U, 100U})
    spectra.views.push_back(
        lab::spectrum_view(lab::number(curves[0].x[i], 0), spectrum_of(snapshots[i])));
  findings.show("Fourier spectrum of the embedding", spectra,
                "The share of each frequency. At first all shares are similar. At the end only a "
                "few frequencies are left.");
  findings.show("Attention", attention_maps(snapshots, lab::number(curves[0].x.back(), 0)),
                "The attention of the last token to a, for each pair (a, b).");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "grokking",
       .title = "Grokking",
       .question = "Why does a network that has memorised its data generalise much later?",
       .source = "N. Nanda and others, Progress measures for grokking via mechanistic "
                 "interpretability, 2023, https://arxiv.org/abs/2301.05217",
       .settings = {{"model", "1 layer, width 128, 4 heads, 512 neurons, no norms, no biases"},
                    {"training", "AdamW on 30 % of all pairs, rate 1e-3, decay 1"}},
       .seed = 999});
  std::int64_t p = 59, epochs = 25000;
  program.line().add_whole("--p", p, "The modulus, an odd number (59; 113 in the paper)", 5, 1000);
  program.line().add_whole("--epochs", epochs, "Number of epochs, a multiple of 100 (25000)", 100,
                           1'000'000);
  return program.run(argc, argv, [&](const lab::Call& call) {
    if (p % 2 == 0) throw std::invalid_argument("--p must be odd");
    if (epochs % 100 != 0) throw std::invalid_argument("--epochs must be a multiple of 100");
    return call.quick ? run(call, 13, 300) : run(call, p, epochs);
  });
}
