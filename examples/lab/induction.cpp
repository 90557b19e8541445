// Induction heads: a transformer with only two layers of attention learns to continue a repeated
// sequence. For each token, a head of the first layer writes which token came before it. A head of
// the second layer uses this to find the token that followed the last copy of the present token.
//
// Such heads form in a sudden step (Olsson et al. 2022). The pair of heads is visible in the
// weights as K-composition (Elhage et al. 2021). Both papers studied language models. Here the
// sequences are random, and patching, ablation and attribution support this explanation.
//
// A sequence repeats a block of different tokens out of 64. The length of the block varies from 12
// to 24, so that heads cannot find the copy by its distance.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"

namespace {

namespace lens = tend::lens;
using lens::ActivationCache;
using tend::Slice;
using tend::Tensor;
using tend::nn::Maps;

constexpr std::int64_t kTokens = 64, kLength = 48, kHalf = kLength / 2, kHeads = 4, kEvery = 20;
// In the test, kQuery and kCopy have the same token. The answer is the token after kCopy.
constexpr std::int64_t kQuery = 40, kCopy = kQuery - kHalf;
constexpr const char *kFirst = "blocks.0.attn.hook_pattern",
                     *kSecond = "blocks.1.attn.hook_pattern";

struct Sequences {
  Sequences(std::int64_t count, std::int64_t period) {
    const Tensor order = argsort(tend::rand({count, kTokens}), 1);
    tokens = order.index_select(1, tend::arange(kLength) % period);
    other = order.select(1, period);
  }
  Tensor tokens;  // (count, kLength)
  Tensor other;   // (count), a token that is not in the sequence
};

/// The mean loss of the second half, which the first half determines.
double loss_of_half(const Tensor& logits, const Tensor& tokens) {
  return cross_entropy(logits[{Slice(), Slice(kHalf, -1)}].flatten(0, 1),
                       tokens[{Slice(), Slice(kHalf + 1)}].flatten())
      .item();
}

std::string name_of(std::int64_t layer, std::int64_t head) {
  return std::to_string(layer) + "." + std::to_string(head);
}

std::vector<std::string> names(std::int64_t count, std::int64_t first = 0) {
  std::vector<std::string> names;
  for (std::int64_t i = first; i < first + count; ++i)
    names.push_back(name_of(i / kHeads, i % kHeads));
  return names;
}

void append(std::vector<double>& values, const Tensor& x) {
  const auto added = x.detach().flatten().to(tend::float64).to_vector<double>();
  values.insert(values.end(), added.begin(), added.end());
}

/// The x at which y first crosses `level`.
double passes(const std::vector<double>& x, const std::vector<double>& y, double level) {
  std::size_t i = 0;
  while (i + 1 < y.size() && (y[i] < level) == (y[0] < level)) ++i;
  return x[i];
}

/// A trained model, and the measurements from its training.
struct Trained {
  explicit Trained(const lab::Call& call);

  tend::attention::GPT model;
  Sequences test;
  lens::Watch watch;
  tend::nn::Curve losses{"loss of the second half", {}, {}};
  Maps patterns{{{"step", {}}, {"head", names(2 * kHeads)}}, {}, {}, {}, "query", "key"};
};

Trained::Trained(const lab::Call& call)
    : model({.vocab_size = kTokens,
             .context_length = kLength,
             .width = 64,
             .num_heads = kHeads,
             .num_layers = 2,
             .norm = tend::attention::NormKind::none,
             .positions = tend::attention::PositionKind::rotary,
             .feed_forward = tend::attention::FeedForwardKind::none,
             .out_bias = false}),
      test(call.quick ? 4 : 32, kHalf),
      watch(
          model, test.tokens,
          {{"previous token, layer 0",
            {kFirst},
            [](const ActivationCache& cache) { return lens::previous_token_score(cache[kFirst]); }},
           {"induction, layer 1",
            {kSecond},
            [tokens = test.tokens](const ActivationCache& cache) {
              return lens::induction_score(cache[kSecond], tokens);
            }}},
          kEvery) {
  tend::optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  const std::int64_t steps = call.quick ? 20 : 1500;
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (watch(step)) {
      const tend::NoGradGuard no_grad;
      const auto [logits, cache] = lens::run_with_cache(model, test.tokens);
      losses.x.push_back(static_cast<double>(step));
      losses.y.push_back(loss_of_half(logits, test.tokens));
      if (step % (steps / 10) == 0) {
        patterns.choices[0].names.push_back(std::to_string(step));
        for (const char* name : {kFirst, kSecond}) append(patterns.values, cache[name][0]);
      }
      lab::show_progress("step " + std::to_string(step) + ", loss " + lab::number(losses.y.back()));
    }
    const auto period = tend::randint(kHalf / 2, kHalf + 1, tend::Shape{}).item<std::int64_t>();
    const Tensor tokens = Sequences(64, period).tokens;
    optimizer.zero_grad();
    cross_entropy(model(tokens[{Slice(), Slice(0, -1)}]).flatten(0, 1),
                  tokens[{Slice(), Slice(1)}].flatten())
        .backward();
    optimizer.step();
  }
  for (const std::int64_t token : test.tokens[0].to_vector<std::int64_t>())
    patterns.rows.push_back(std::to_string(token));
  patterns.columns = patterns.rows;
  patterns.choices[0].first = patterns.choices[0].names.size() - 1;
}

/// Patching, and its estimate by attribution: two tensors (layer, head, position).
///
/// The model runs on sequences without the copy, but one head's output at one position is the
/// output from the original sequences. The value is the share of the answer's log-probability that
/// this restores.
std::pair<Tensor, Tensor> patch(const Trained& trained) {
  const Tensor tokens = trained.test.tokens, corrupted = tokens.clone();
  corrupted.select(1, kCopy).copy_(trained.test.other);
  const auto metric = [&](const Tensor& logits) {
    return -cross_entropy(logits.select(1, kQuery), tokens.select(1, kQuery + 1));
  };
  const auto [logits, cache] = lens::run_with_cache(trained.model, tokens);
  const double low = metric(trained.model(corrupted)).item(), range = metric(logits).item() - low;
  return {(lens::patch_by_head_and_position(trained.model, corrupted, cache, metric) - low) / range,
          lens::attribute_by_head_and_position(trained.model, corrupted, cache, metric) / range};
}

struct Place {
  std::int64_t head, position;
};

/// The head and position with the highest value. `values` is (head, position).
Place highest(const Tensor& values) {
  const auto at = values.argmax().item<std::int64_t>();
  return {at / kLength, at % kLength};
}

/// The induction scores of layer 1, and the loss, if a head of layer 0 is replaced by its mean
/// output.
std::pair<Tensor, double> ablate(const Trained& trained, std::int64_t head) {
  const std::string name = "blocks.0.attn.hook_z";
  const auto clean = lens::run_with_cache(trained.model, trained.test.tokens, {.names = {name}});
  const Tensor mean = clean.cache[name].narrow(2, head, 1).mean({0, 1}, true);
  const lens::Hooks hooks({lens::replace_heads(name, {head}, mean)});
  const auto [logits, cache] =
      lens::run_with_cache(trained.model, trained.test.tokens, {.names = {kSecond}});
  return {lens::induction_score(cache[kSecond], trained.test.tokens),
          loss_of_half(logits, trained.test.tokens)};
}

lab::Findings run(const lab::Call& call) {
  tend::manual_seed(call.seed);
  const Trained trained(call);
  const Tensor previous = trained.watch.values("previous token, layer 0")[-1],
               induction = trained.watch.values("induction, layer 1")[-1];
  const auto first = previous.argmax().item<std::int64_t>(),
             second = induction.argmax().item<std::int64_t>();
  const double score = induction[second].item();
  lab::Findings findings;
  // The tolerance is a fortieth of log 64, which is the loss of a guess.
  findings.compare("loss of the second half at the end", 0, trained.losses.y.back(), 0.1);
  findings.add("previous token score of head " + name_of(0, first), "near 1",
               lab::number(previous[first].item()), previous[first].item() > 0.9);
  findings.add("induction score of head " + name_of(1, second), "near 1", lab::number(score),
               score > 0.9);
  const std::vector<double>& steps = trained.losses.x;
  const auto rise =
      trained.watch.values("induction, layer 1").select(1, second).to_vector<double>();
  const double begin = passes(steps, rise, 0.1), middle = passes(steps, rise, 0.5),
               fall = passes(steps, trained.losses.y, trained.losses.y.front() / 2);
  findings.add("steps in which the induction score rises from 0.1 to 0.5 (published as a curve)",
               "a sudden step",
               "from step " + lab::number(begin, 0) + " to " + lab::number(middle, 0), {});
  // The two moments count as the same if they differ by at most the time of the rise.
  findings.add("step at which the loss has fallen to half", "at the same time",
               "at step " + lab::number(fall, 0),
               middle > begin && std::abs(fall - middle) <= middle - begin);

  // Several heads of layer 1 may be induction heads. All heads with a score above 0.5 count.
  std::string senders, expected_senders;
  const Tensor composition = lens::composition_scores(trained.model, "K")[0].select(1, 1);
  for (std::int64_t head = 0; head < kHeads; ++head) {
    if (induction[head].item() < 0.5) continue;
    const auto sender = composition.select(1, head).argmax().item<std::int64_t>();
    senders += name_of(0, sender) + "-" + name_of(1, head) + " ";
    expected_senders += name_of(0, first) + "-" + name_of(1, head) + " ";
  }
  findings.add("heads of layer 0 with the highest K-composition with induction heads",
               expected_senders.empty() ? "no induction head" : expected_senders, senders,
               !senders.empty() && senders == expected_senders);
  const auto [patched, attributed] = patch(trained);
  for (const auto& [how, values] : {std::pair("patching", patched), {"attribution", attributed}}) {
    const Place writes = highest(values[0]), reads = highest(values[1]);
    findings.add(std::string(how) + ": head and position that restore most in each layer",
                 name_of(0, first) + " at " + std::to_string(kCopy + 1) + ", induction head at " +
                     std::to_string(kQuery),
                 name_of(0, writes.head) + " at " + std::to_string(writes.position) + ", " +
                     name_of(1, reads.head) + " at " + std::to_string(reads.position),
                 writes.head == first && writes.position == kCopy + 1 &&
                     induction[reads.head].item() > 0.5 && reads.position == kQuery);
  }
  lab::Table table{{"without", "previous token score", "induction score", "loss"}, {}};
  table.rows.push_back({"", "", lab::number(score), lab::number(trained.losses.y.back())});
  for (std::int64_t head = 0; head < kHeads; ++head) {
    const auto [scores, loss] = ablate(trained, head);
    const double left = scores[second].item();
    table.rows.push_back({name_of(0, head), lab::number(previous[head].item()), lab::number(left),
                          lab::number(loss)});
    if (head == first)
      findings.add(
          "induction score of " + name_of(1, second) + " without head " + name_of(0, first),
          "falls", lab::number(left), left < score / 2);
  }

  findings.show("Scores by head", trained.watch.chart(),
                "Previous token: the attention to the previous token. Induction: the attention to "
                "the token after the copy of the present token.");
  findings.show("Loss", tend::nn::Chart{.views = {{"", {trained.losses}}}},
                "The loss of the second half of sequences that repeat 24 tokens once. A guess has "
                "loss 4.16.");
  findings.show("Attention", trained.patterns,
                "A head attends from a token (row) to earlier tokens (columns).");
  Maps maps{
      {{"kind", {"K", "Q", "V"}}}, names(kHeads), names(kHeads, kHeads), {}, "layer 0", "layer 1"};
  for (const char* kind : {"K", "Q", "V"})
    append(maps.values, lens::composition_scores(trained.model, kind)[0].select(1, 1));
  findings.show(
      "Composition", maps,
      "How strongly the output of a head of layer 0 (row) enters the keys, queries or values of a "
      "head of layer 1 (column).");
  maps = {{{"by", {"patching", "attribution"}}}, names(2 * kHeads), {}, {}, "head", "position"};
  for (std::int64_t i = 0; i < kLength; ++i) maps.columns.push_back(std::to_string(i));
  append(maps.values, patched);
  append(maps.values, attributed);
  findings.show(
      "Patching", maps,
      "The token at position 16 is replaced, so that the token at 40 has no copy. Then the output "
      "of one head at one position is set to its original value. The map shows the share of the "
      "answer's log-probability that this restores.");
  findings.show("Without a head of layer 0", table,
                "The output of each head is replaced by its mean.");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "induction",
       .title = "Induction heads",
       .question = "How does a transformer with only attention learn to continue a repetition?",
       .source = "Olsson et al. 2022, "
                 "https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads; "
                 "Elhage et al. 2021, https://transformer-circuits.pub/2021/framework",
       .settings = {
           {"model",
            "two layers of attention, four heads, width 64, rotary positions, no "
            "norms"},
           {"data", "blocks of 12 to 24 different tokens of 64, repeated to a length of 48"},
           {"training", "1,500 steps of 64 new sequences, Adam 1e-3"}}});
  return program.run(argc, argv, run);
}
