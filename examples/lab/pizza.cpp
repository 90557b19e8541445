// Do networks that add modulo 59 compute with angles, as a clock does, or in another way?
// Z. Zhong, Z. Liu, M. Tegmark, J. Andreas, The Clock and the Pizza, 2023,
// https://arxiv.org/abs/2306.17844. The authors' "Model A" (code/save/model_p99zdpze5l.pt of
// https://github.com/fjzzq2002/pizza) is a transformer of one layer, width 128, 4 heads and 512
// neurons, without norms. Its attention is constant: every weight is 1.
//
// Three numbers describe the network:
// - Distance irrelevance is near 1 for a clock and near 0 for a pizza.
// - Gradient symmetricity is 1 if the logits depend only on the sum of the two embeddings.
// - Circularity is 1 if the embedding consists of circles.

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <tend/nn/archives/pt.h>
#include <tend/tend.h>

#include "examples/lab/lab.h"
#include "examples/lab/modular.h"
#include "examples/lab/python_random.h"

namespace {

using tend::Tensor;

constexpr std::int64_t kPrime = 59, kWidth = 128;

struct Transformer : tend::nn::Module<Transformer> {
  /// Shapes and initialisation are the authors'.
  Transformer()
      : W_E(drawn({kWidth, kPrime})),
        W_pos(drawn({2, kWidth})),
        W_V(drawn({4, kWidth / 4, kWidth})),
        W_O(drawn({kWidth, kWidth})),
        W_in(drawn({4 * kWidth, kWidth})),
        b_in(tend::zeros({4 * kWidth})),
        W_out(drawn({kWidth, 4 * kWidth})),
        b_out(tend::zeros({kWidth})),
        W_U(drawn({kWidth, kPrime})) {}

  static Tensor drawn(const tend::Shape& shape) { return tend::randn(shape) / std::sqrt(kWidth); }

  /// The logits (n, 59) of pairs (n, 2), at the second number.
  Tensor forward(const Tensor& pairs) const {
    const Tensor x = hook_embed(embedding(pairs, W_E.t())) + W_pos;
    const Tensor z = linear(x.sum(1), W_V.flatten(0, 1));
    const Tensor resid_mid = x.select(1, 1) + linear(z, W_O);
    const Tensor out = linear(relu(linear(resid_mid, W_in, b_in)), W_out, b_out);
    return matmul(resid_mid + out, W_U);
  }

  tend::lens::HookPoint hook_embed{"hook_embed"};
  TEND_PARAMETER(W_E);
  TEND_PARAMETER(W_pos);
  TEND_PARAMETER(W_V);
  TEND_PARAMETER(W_O);
  TEND_PARAMETER(W_in);
  TEND_PARAMETER(b_in);
  TEND_PARAMETER(W_out);
  TEND_PARAMETER(b_out);
  TEND_PARAMETER(W_U);
};

/// The logits of the right answers, (59, 59). The row is a + b, the column is a - b.
Tensor correct_logits(const Transformer& model) {
  const tend::NoGradGuard no_grad;
  const Tensor logits = model(lab::pairs_by_sum(kPrime).flatten(0, 1));
  return logits.view({kPrime, kPrime, kPrime}).diagonal(0, 0, 2).t().to(tend::float64);
}

/// The standard deviation of the logits for a fixed a - b, divided by the standard deviation of all
/// logits.
double distance_irrelevance(const Transformer& model) {
  const Tensor logits = correct_logits(model);
  return (logits.std({0}, 0).mean() / logits.std(false)).item();
}

/// The mean cosine of the gradients of logit c with respect to the embeddings of a and b, over 100
/// triples (a, b, c). As in the authors' code, the triples are the first ones after Python's
/// shuffle of all triples with seed 42.
double gradient_symmetricity(const Transformer& model) {
  std::vector<std::int64_t> triples(kPrime * kPrime * kPrime);
  for (std::size_t i = 0; i < triples.size(); ++i) triples[i] = static_cast<std::int64_t>(i);
  lab::PythonRandom(42).shuffle(triples);
  triples.resize(100);
  const Tensor t = tend::tensor(triples);
  const Tensor pairs =
      tend::stack({t.floor_divide(kPrime * kPrime), t.floor_divide(kPrime) % kPrime}, 1);
  const auto [logits, cache] = tend::lens::run_with_cache(model, pairs);
  const Tensor chosen = logits.gather(1, (t % kPrime).unsqueeze(1)).sum();
  const Tensor gradient = tend::autograd::grad(chosen, cache["hook_embed"]).to(tend::float64);
  return cosine_similarity(gradient.select(1, 0), gradient.select(1, 1), 1).mean().item();
}

/// Takes the embedding's first four principal components and, for each, the share of its strongest
/// frequency. Returns their mean.
double circularity(const Transformer& model) {
  const tend::NoGradGuard no_grad;
  const Tensor x = model.W_E.t();
  const Tensor components = tend::linalg::svd(x - x.mean({0}), /*full_matrices=*/false).U;
  return lab::fourier_power(components.narrow(1, 0, 4)).amax({0}).mean().item();
}

/// Loads the weights of the authors' file, which have names such as "embed.W_E".
void load(Transformer& model, const std::string& path) {
  tend::nn::StateDict weights;
  for (const auto& [name, weight] : tend::nn::load_pt(path).state_dict())
    weights.emplace_back(name.substr(name.rfind('.') + 1), weight);
  for (const char* unused : {"W_Q", "W_K", "mask"}) weights.erase(unused);  // constant attention
  model.load_state_dict(weights);
}

std::array<double, 3> numbers_of(const Transformer& model) {
  return {distance_irrelevance(model), gradient_symmetricity(model), circularity(model)};
}

lab::Findings run(const lab::Call& call, const std::string& path) {
  if (path.empty() && !call.quick) throw std::invalid_argument("--weights FILE is required");
  tend::manual_seed(call.seed);
  Transformer model;
  if (!path.empty()) load(model, path);
  const auto in_float32 = numbers_of(model);
  model.to(tend::float64);
  const auto in_float64 = numbers_of(model);

  // The published numbers were computed in float32, whose unit is 2^-24 just below 1. They have
  // rounding errors of a few units, which differ between machines. PyTorch 2.6 on our machine
  // differs from them by up to 2.6 units.
  constexpr double kTolerance = 4.0 / (1 << 24);
  const std::array published{0.17173645661473538, 0.9936651682853699, 0.9978184479185687};
  const std::array names{"distance irrelevance", "gradient symmetricity", "circularity"};
  lab::Findings findings;
  lab::Table table{{"", "published", "here, float32", "here, float64"}, {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    findings.compare(std::string(names[i]) + " (published in float32, so with 7 digits)",
                     published[i], in_float64[i], kTolerance, 12);
    table.rows.push_back({names[i], lab::number(published[i], 16), lab::number(in_float32[i], 16),
                          lab::number(in_float64[i], 16)});
  }
  findings.show("The three numbers", table,
                "In float64 they have no rounding errors that matter. In float32 they are wrong "
                "from the seventh or eighth digit, as are the published numbers.");

  const Tensor logits = correct_logits(model);
  const auto numbers = lab::number_names(kPrime);
  findings.show(
      "Logits of the right answers",
      tend::nn::Maps{{},
                     numbers,
                     numbers,
                     (logits - logits.mean()).flatten().to_vector<double>(),
                     "a + b",
                     "a - b"},
      "Their mean is subtracted. The logits of a pizza depend on a - b, so the map has columns. "
      "The logits of a clock would be similar everywhere.");
  findings.show("Fourier spectrum of the embedding",
                tend::nn::Chart{.views = {lab::spectrum_view("", lab::spectrum(model.W_E.t()))},
                                .has_bars = true,
                                .x_name = "frequency"},
                "The share of each frequency in the embedding of the numbers 0 to 58. Each of the "
                "frequencies that matter is a circle.");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "pizza",
       .title = "The clock and the pizza",
       .question = "Which of two algorithms does a network use to add modulo 59?",
       .source = "Z. Zhong and others, The Clock and the Pizza, 2023, "
                 "https://arxiv.org/abs/2306.17844",
       .settings = {{"model", "the authors' Model A: 1 layer, width 128, constant attention"},
                    {"data", "all 3,481 pairs; 100 triples for the gradients"}}});
  std::string weights;
  program.line()
      .add_file("--weights", weights, "The authors' file model_p99zdpze5l.pt")
      .must_exist();
  return program.run(argc, argv, [&](const lab::Call& call) { return run(call, weights); });
}
