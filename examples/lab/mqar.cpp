// Multi-query associative recall: a sequence begins with pairs of a key and a value. The keys come
// again later, and the model must answer with their values. S. Arora et al. 2023 (Zoology), figure
// 2, where two layers of attention learn this at every width.
//
// The settings are the published ones: vocabulary 8,192, one pair for every 16 tokens, queries at
// positions that follow a power law, 0 at other positions, no feed-forward networks, dropout 0.1, a
// tied head, AdamW with decay 0.1, a cosine schedule. The training ends at an accuracy of 0.99.
// Three things differ. All sequences are new, while the authors make up to 64 passes over 100,000
// sequences. We use one of their four learning rates. Logits are only computed at positions with a
// label.

#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"

namespace {

using tend::Tensor;
using Masks = tend::nn::MultiheadAttentionMasks;

constexpr std::int64_t kVocabulary = 8192;
struct Batch {
  // Tokens are (sequence, length). Places are the positions of the repeated keys, and values are
  // the values of these keys, both (sequence, pair).
  Tensor tokens, places, values;
};

/// Random numbers (count, pairs) from low to high - 1. The numbers in a row are all different.
Tensor distinct(std::int64_t low, std::int64_t high, std::int64_t count, std::int64_t pairs) {
  Tensor numbers = tend::randint(low, high, {count, pairs});
  for (;;) {
    const Tensor same = (numbers.unsqueeze(2) == numbers.unsqueeze(1)).sum(2).amax(1, true) > 1;
    if (!same.any().item<bool>()) return numbers;
    numbers = where(same, tend::randint(low, high, {count, pairs}), numbers);
  }
}

Batch make_batch(std::int64_t count, std::int64_t length) {
  const std::int64_t pairs = length / 16, rest = length - 2 * pairs;
  const Tensor keys = distinct(1, kVocabulary / 2, count, pairs);
  const Tensor values = distinct(kVocabulary / 2, kVocabulary, count, pairs);
  const Tensor chances = tend::arange(1, rest / 2 + 1, tend::float32).pow(0.01 - 1);
  const Tensor places = 2 * multinomial(chances.expand({count, rest / 2}), pairs);
  const Tensor queries = tend::zeros({count, rest}, tend::int64).scatter(1, places, keys);
  const Tensor context = tend::stack({keys, values}, 2).flatten(1, 2);
  return {tend::cat({context, queries}, 1), places + 2 * pairs, values};
}

struct Block : tend::nn::Module<Block> {
  explicit Block(std::int64_t width)
      : norm1(width), attention(width, 1, {.dropout = 0.1, .batch_first = true}), norm2(width) {}
  /// `rows` are the rows of x whose output is needed.
  Tensor forward(const Tensor& rows, const Tensor& x, const Masks& masks) const {
    const Tensor seen = norm1(x);
    const Tensor middle = rows + attention(norm1(rows), seen, seen, masks).context;
    return middle + norm2(middle);  // Zoology's block without a feed-forward network
  }

  TEND_MODULE(tend::nn::LayerNorm, norm1);
  TEND_MODULE(tend::nn::MultiheadAttention, attention);
  TEND_MODULE(tend::nn::LayerNorm, norm2);
};

struct Model : tend::nn::Module<Model> {
  Model(std::int64_t width, std::int64_t length)
      : tokens(kVocabulary, width),
        positions(length, width),
        first(width),
        second(width),
        norm(width) {
    for (const auto& [name, parameter] : named_parameters())
      if (parameter.dim() == 2)
        tend::nn::init::normal_(parameter, 0, name.ends_with("out_proj.weight") ? 0.01 : 0.02);
  }

  /// The logits at the positions of the repeated keys, (sequence * pair, kVocabulary).
  Tensor forward(const Batch& batch) const {
    const Tensor embedded =
        tend::dropout(tokens(batch.tokens) + positions.weight, 0.1, is_training());
    const Tensor x = first(embedded, embedded, Masks{.need_weights = false, .is_causal = true});
    const Tensor places = batch.places.unsqueeze(2), rows = take_along_dim(x, places, 1);
    const Tensor is_hidden = tend::arange(x.size(1)) > places;
    const Tensor last = second(rows, x, Masks{.need_weights = false, .attn_mask = is_hidden});
    return matmul(norm(last).flatten(0, 1), tokens.weight.t());
  }

  TEND_MODULE(tend::nn::Embedding, tokens);
  TEND_MODULE(tend::nn::Embedding, positions);
  TEND_MODULE(Block, first);
  TEND_MODULE(Block, second);
  TEND_MODULE(tend::nn::LayerNorm, norm);
};

/// Trains a model until its accuracy is 0.99. Returns the accuracies on new sequences.
tend::nn::Curve train(std::int64_t width, std::int64_t length, std::int64_t steps, bool quick) {
  Model model(width, length);
  tend::optim::AdamW optimizer(model.parameters(), {.lr = 2.15e-3, .weight_decay = 0.1});
  tend::optim::CosineAnnealingLR schedule(optimizer, steps);
  const Batch test = make_batch(quick ? 50 : 3000, length);
  tend::nn::Curve curve{
      "width " + std::to_string(width) + ", length " + std::to_string(length), {}, {}};
  for (std::int64_t step = 0;; ++step) {
    if (step % 50 == 0 || step == steps) {
      const tend::nn::EvaluationMode mode(model);
      const Tensor is_right = model(test).argmax(1) == test.values.flatten();
      curve.x.push_back(static_cast<double>(step));
      curve.y.push_back(is_right.to(tend::float64).mean().item());
      lab::show_progress(curve.name + ", step " + std::to_string(step));
      if (curve.y.back() >= 0.99 || step == steps) return curve;
    }
    const Batch batch = make_batch(quick ? 16 : length < 256 ? 512 : 256, length);
    optimizer.zero_grad();
    cross_entropy(model(batch), batch.values.flatten()).backward();
    optimizer.step();
    schedule.step();
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "mqar",
       .title = "Multi-query associative recall",
       .question = "Does attention recall values at every width and length?",
       .source = "S. Arora et al. 2023, https://arxiv.org/abs/2312.04927, figure 2",
       .settings = {{"batch", "512; 256 at length 256"}, {"AdamW", "2.15e-3"}}});
  bool all_widths = false;
  program.line().add_flag("--all-widths", all_widths,
                          "Run all widths and lengths of the figure, which takes hours");
  return program.run(argc, argv, [&](const lab::Call& call) {
    tend::manual_seed(call.seed);
    std::vector<std::int64_t> widths{64}, lengths{64};
    if (all_widths) widths = {64, 128, 256, 512}, lengths = {64, 128, 256};
    const std::int64_t steps = call.quick ? 10 : all_widths ? 64 * 195 : 2000;
    lab::Findings findings;
    std::vector<tend::nn::Curve> trainings, figure;
    for (const std::int64_t length : lengths) {
      figure.push_back({"length " + std::to_string(length), {}, {}, false, true});
      for (const std::int64_t width : widths) {
        const tend::nn::Curve& done =
            trainings.emplace_back(train(width, length, steps, call.quick));
        figure.back().x.push_back(static_cast<double>(width));
        figure.back().y.push_back(done.y.back());
        findings.add("accuracy at " + done.name + ", step " + lab::number(done.x.back(), 0), "0.99",
                     lab::number(done.y.back()), done.y.back() >= 0.99);
      }
    }
    findings.show("By width", tend::nn::Chart{.views = {{"", figure}}, .x_name = "width"});
    findings.show("Training", tend::nn::Chart{{{"", trainings}}},
                  "The accuracy on 3,000 new sequences.");
    return findings;
  });
}
