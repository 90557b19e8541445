// Statistical induction heads: each sequence comes from its own Markov chain. A transformer learns
// to predict the next symbol from counts in the sequence. During the training it first predicts
// uniformly, then by the shares of symbols (unigrams), then by pairs of symbols (bigrams), which is
// Bayes' predictor. Edelman et al. 2024, https://arxiv.org/abs/2402.11004, figure 1.
//
// The settings are from the authors' code: the rows of a chain come from Dirichlet(1), and a
// learned vector for each distance is added to the keys. We train 2,500 steps instead of 2,000,
// because in our run the last transition comes only at step 2,000.

#include <cmath>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"

namespace {

using tend::Slice;
using tend::Tensor;

constexpr std::int64_t kLength = 100, kWidth = 16, kBatch = 64, kShown = 32;
constexpr double kDropout = 0.1;

/// Sequences of two symbols, (count, kLength + 1). The first symbol of each comes from the chain's
/// stationary distribution.
Tensor make_sequences(std::int64_t count) {
  const auto chances = tend::rand({count, kLength + 3}).to_vector<float>();
  std::vector<std::int64_t> symbols;
  for (std::size_t at = 0; at < chances.size();) {
    // Dirichlet(1) of two symbols is uniform.
    const float one_after_zero = chances[at++], one_after_one = chances[at++];
    float one = one_after_zero / (one_after_zero + 1 - one_after_one);
    for (std::int64_t i = 0; i <= kLength; ++i) {
      symbols.push_back(chances[at++] < one ? 1 : 0);
      one = symbols.back() == 1 ? one_after_one : one_after_zero;
    }
  }
  return tend::tensor(symbols, {count, kLength + 1});
}

struct Layer : tend::nn::Module<Layer> {
  Layer()
      : norm({kWidth}),
        to_query(kWidth, kWidth, false),
        to_key(kWidth, kWidth, false),
        to_value(kWidth, kWidth, false),
        out(kWidth, kWidth, false),
        distances(kLength, kWidth),
        dropout(kDropout) {}

  Tensor forward(const Tensor& x) const {
    const Tensor h = norm(x), query = to_query(h), places = tend::arange(x.size(1));
    const Tensor distance = (places.unsqueeze(1) - places).clamp(0, kLength - 1);
    const Tensor by_distance = dropout(distances(distance));  // (query, key, width)
    const Tensor scores = matmul(query, to_key(h).mT()) +
                          matmul(query.transpose(0, 1), by_distance.mT()).transpose(0, 1);
    const Tensor future = places > places.unsqueeze(1);
    const Tensor pattern =
        softmax(masked_fill(scores / std::sqrt(1.0 * kWidth), future, -INFINITY), -1);
    return x + dropout(out(matmul(dropout(hook_pattern(pattern)), to_value(h))));
  }

  tend::lens::HookPoint hook_pattern{"hook_pattern"};
  TEND_MODULE(tend::nn::LayerNorm, norm);
  TEND_MODULE(tend::nn::Linear, to_query);
  TEND_MODULE(tend::nn::Linear, to_key);
  TEND_MODULE(tend::nn::Linear, to_value);
  TEND_MODULE(tend::nn::Linear, out);
  TEND_MODULE(tend::nn::Embedding, distances);
  TEND_MODULE(tend::nn::Dropout, dropout);
};

struct Model : tend::nn::Module<Model> {
  Model() : symbols(2, kWidth), dropout(kDropout), norm({kWidth}), head(kWidth, 2, false) {
    for (const auto& [name, parameter] : named_parameters()) {
      if (parameter.dim() == 2)
        tend::nn::init::normal_(parameter, 0, name.ends_with("out.weight") ? 0.01 : 0.02);
    }
  }
  Tensor forward(const Tensor& tokens) const {
    return head(norm(second(first(dropout(symbols(tokens))))));
  }

  TEND_MODULE(tend::nn::Embedding, symbols);
  TEND_MODULE(tend::nn::Dropout, dropout);
  TEND_MODULE(Layer, first);
  TEND_MODULE(Layer, second);
  TEND_MODULE(tend::nn::LayerNorm, norm);
  TEND_MODULE(tend::nn::Linear, head);
};

/// The predictions of the three strategies after each symbol: three tensors (count, kLength, 2).
std::vector<Tensor> strategies(const Tensor& tokens) {
  const Tensor seen = one_hot(tokens, 2).to(tend::float32);
  const Tensor unigrams = 1 + seen.cumsum(1);
  // bigrams uses the counts of the pairs that begin with the present symbol.
  const Tensor pairs =
      seen[{Slice(), Slice(0, -1)}].unsqueeze(3) * seen[{Slice(), Slice(1)}].unsqueeze(2);
  const Tensor counted = tend::cat({tend::zeros({tokens.size(0), 1, 2, 2}), pairs.cumsum(1)}, 1);
  const Tensor bigrams = 1 + (counted * seen.unsqueeze(3)).sum(2);
  return {tend::full(seen.shape(), 0.5), unigrams / unigrams.sum(2, true),
          bigrams / bigrams.sum(2, true)};
}

/// Measurements of a model during training, on sequences that are not trained on.
struct Record {
  explicit Record(const Tensor& sequences)
      : tokens(sequences[{Slice(), Slice(0, -1)}]),
        next(sequences[{Slice(), Slice(1)}].flatten()),
        predictions(strategies(tokens)) {
    for (const char* name : {"uniform", "unigrams", "bigrams"}) distances.push_back({name, {}, {}});
    patterns = {{{"step", {}}, {"layer", {"0", "1"}, 1}}, {}, {}, {}, "query", "key"};
    for (const std::int64_t symbol : tokens[{0, Slice(0, kShown)}].to_vector<std::int64_t>())
      patterns.rows.push_back(std::to_string(symbol));
    patterns.columns = patterns.rows;
  }

  double loss(const Tensor& log_p) const { return nll_loss(log_p.flatten(0, 1), next).item(); }
  /// The mean of KL(strategy || prediction) after the last symbol, where the authors measure it.
  double distance(std::size_t strategy, const Tensor& log_p) const {
    const Tensor target = predictions[strategy].select(1, kLength - 1);
    return (target * (target.log() - log_p.select(1, kLength - 1))).sum(1).mean().item();
  }

  void add(Model& model, std::int64_t step, bool with_patterns) {
    const tend::nn::EvaluationMode evaluation(model);
    const auto [logits, cache] = tend::lens::run_with_cache(model, tokens);
    const Tensor log_p = log_softmax(logits, -1);
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      distances[i].x.push_back(static_cast<double>(step));
      distances[i].y.push_back(distance(i, log_p));
      if (distances[i].y.back() < distances[nearest].y.back()) nearest = i;
    }
    if (phases.empty() || phases.back() != distances[nearest].name)
      phases.push_back(distances[nearest].name);
    last_loss = loss(log_p);
    lab::show_progress("step " + std::to_string(step) + ", nearest to " + phases.back());
    if (!with_patterns) return;
    patterns.choices[0].first = patterns.choices[0].names.size();  // the last one
    patterns.choices[0].names.push_back(std::to_string(step));
    for (const char* name : {"first.hook_pattern", "second.hook_pattern"}) {
      const auto shown =
          cache[name][{0, Slice(0, kShown), Slice(0, kShown)}].flatten().to_vector<float>();
      patterns.values.insert(patterns.values.end(), shown.begin(), shown.end());
    }
  }

  Tensor tokens, next;
  std::vector<Tensor> predictions;  // one for each strategy
  std::vector<tend::nn::Curve> distances;
  std::vector<std::string> phases;  // the strategies that were nearest, in order of time
  tend::nn::Maps patterns;
  double last_loss = 0;
};

lab::Findings report(const Record& record, const tend::lens::Watch& watch) {
  lab::Findings findings;
  std::string phases;
  for (const std::string& phase : record.phases) phases += (phases.empty() ? "" : ", ") + phase;
  findings.compare_text("nearest strategies, in the order of training",
                        "uniform, unigrams, bigrams", phases);
  // The tolerance is a tenth of the unigrams' distance to Bayes' predictor.
  const Tensor by_unigrams = record.predictions[1].log();
  const double bayes = record.loss(record.predictions[2].log()),
               unigrams = record.loss(by_unigrams);
  findings.compare("distance (KL) to Bayes' predictor at the end, after the last symbol", 0,
                   record.distances[2].y.back(), 0.1 * record.distance(2, by_unigrams));
  findings.compare("loss of all positions at the end, compared with Bayes' predictor", bayes,
                   record.last_loss, 0.1 * (unigrams - bayes));
  findings.add("loss of the unigram strategy, for comparison", "", lab::number(unigrams), {});
  findings.show(
      "Distance to strategies", tend::nn::Chart{.views = {{"", record.distances}}},
      "The mean of KL(strategy || model) after the last of 100 symbols. Unigrams predict by the "
      "counts of the symbols so far. Bigrams predict by the counts of the symbols that followed "
      "the present symbol. Both add 1 to each count.");
  findings.show("What the layers attend to", watch.chart(),
                "Previous token: the attention of the first layer to the previous token. "
                "Induction: the attention of the second layer to the symbols that followed the "
                "present symbol. Even attention has an induction score of about one half.");
  findings.show(
      "Attention", record.patterns,
      "The first 32 symbols of a sequence. In the end, the first layer attends to the previous "
      "symbol. The second layer attends to all symbols that followed a symbol equal to the "
      "present one.");
  return findings;
}

lab::Findings run(const lab::Call& call) {
  tend::manual_seed(call.seed);
  Model model;
  const auto decays = [](const std::string& name, const Tensor& parameter) {
    return parameter.dim() == 2 && name != "symbols.weight" && !name.ends_with("distances.weight");
  };
  tend::optim::AdamW optimizer(tend::optim::decay_groups(model, 0.1, decays),
                               {.lr = 5e-4, .betas = {0.9, 0.95}});
  Record record(make_sequences(call.quick ? 16 : 128));
  using tend::lens::ActivationCache;
  tend::lens::Watch watch(
      model, record.tokens,
      {{"previous token",
        {"first.hook_pattern"},
        [](const ActivationCache& cache) {
          return tend::lens::previous_token_score(cache["first.hook_pattern"].unsqueeze(1));
        }},
       {"induction",
        {"second.hook_pattern"},
        [&](const ActivationCache& cache) {
          return tend::lens::induction_score(cache["second.hook_pattern"].unsqueeze(1),
                                             record.tokens);
        }}},
      50);
  const std::int64_t steps = call.quick ? 20 : 2500;
  for (std::int64_t step = 0;; ++step) {
    watch(step);
    if (step % 25 == 0 || step == steps) record.add(model, step, step % (steps / 4) == 0);
    if (step == steps) return report(record, watch);
    const Tensor sequences = make_sequences(kBatch);
    optimizer.zero_grad();
    cross_entropy(model(sequences[{Slice(), Slice(0, -1)}]).flatten(0, 1),
                  sequences[{Slice(), Slice(1)}].flatten())
        .backward();
    tend::nn::clip_grad_norm_(model.parameters(), 1);
    optimizer.step();
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "bigrams",
       .title = "Statistical induction heads",
       .question = "How does a transformer learn to predict by the bigrams of its context?",
       .source = "Edelman et al. 2024, https://arxiv.org/abs/2402.11004, figure 1",
       .settings = {
           {"model",
            "two layers of attention, one head, width 16, learned vectors for "
            "distances, dropout 0.1"},
           {"data", "sequences of 100 symbols of two kinds, a chain from Dirichlet(1) for each"},
           {"training",
            "2,500 steps of 64 new sequences, AdamW 5e-4, betas (0.9, 0.95), "
            "decay 0.1, gradients clipped to 1"}}});
  return program.run(argc, argv, run);
}
