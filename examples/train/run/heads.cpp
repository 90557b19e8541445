#include <algorithm>
#include <set>

#include "examples/train/run/evaluation.h"

namespace train {

using tend::Tensor;

namespace {

constexpr std::size_t kReadable = 40;  // tokens that fit a page

const std::string& label(const Task& task, std::int64_t token) {
  return task.labels[static_cast<std::size_t>(token)];
}

/// What each head puts on a pattern's links, as sums over the queries that have any.
class PatternScore {
 public:
  PatternScore(std::size_t layers, std::size_t heads) : heads_(heads), sums_(layers * heads) {}

  void count_queries(const std::vector<Link>& links) {
    std::set<std::size_t> queries;
    for (const Link& link : links) queries.insert(link.query);
    queries_ += queries.size();
  }

  /// `weights` are those of one sequence and layer: (heads, length, length).
  void add(std::size_t layer, std::span<const float> weights, std::size_t length,
           const std::vector<Link>& links) {
    for (std::size_t head = 0; head < heads_; ++head) {
      for (const Link& link : links) {
        sums_[layer * heads_ + head] +=
            static_cast<double>(weights[(head * length + link.query) * length + link.key]);
      }
    }
  }

  void write_best(HeadFinding& finding) const {
    const auto best = std::max_element(sums_.begin(), sums_.end());
    const auto index = static_cast<std::size_t>(best - sums_.begin());
    finding.layer = index / heads_ + 1;
    finding.head = index % heads_ + 1;
    finding.mean_weight = queries_ == 0 ? 0.0 : *best / static_cast<double>(queries_);
  }

 private:
  std::size_t heads_;
  std::vector<double> sums_;
  std::size_t queries_ = 0;
};

}  // namespace

AttentionExample make_example(Model& model, const Task& task, const Tokens& sequence) {
  const EvaluationMode mode(model);
  const std::size_t shown = std::min(task.context(), std::max(kReadable, task.prompt));
  const Tokens inputs(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(shown));
  const tend::attention::GPTOutput seen = model.with_weights(token_tensor(inputs, 1, shown));
  const Tokens predicted = most_likely(seen.logits);
  AttentionExample example;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool asked = task.is_answer[i + 1];
    example.inputs.push_back(label(task, sequence[i]));
    example.predictions.push_back(asked ? label(task, predicted[i]) : "");
    example.correct.push_back(predicted[i] == sequence[i + 1]);
  }
  for (const Tensor& layer : seen.weights) {
    const std::vector<float> values = layer.to_vector<float>();
    auto& heads = example.weights.emplace_back();
    for (auto head = values.begin(); head != values.end();
         head += static_cast<std::ptrdiff_t>(shown * shown)) {
      heads.emplace_back(head, head + static_cast<std::ptrdiff_t>(shown * shown));
    }
  }
  return example;
}

std::vector<HeadFinding> find_heads(Model& model, const Task& task,
                                    std::span<const Tokens> sequences, std::size_t shown) {
  const EvaluationMode mode(model);
  const Batch batch = make_batch(task, sequences);
  const std::vector<Tensor> weights =
      model.with_weights(token_tensor(batch.inputs, batch.size, batch.length)).weights;
  const auto heads = static_cast<std::size_t>(weights.front().size(1));
  const std::size_t stride = heads * batch.length * batch.length;

  std::vector<HeadFinding> findings;
  for (const Pattern& pattern : task.patterns) {
    PatternScore score(weights.size(), heads);
    for (std::size_t row = 0; row < sequences.size(); ++row) {
      const std::vector<Link> links = pattern.links(sequences[row]);
      score.count_queries(links);
      for (std::size_t layer = 0; layer < weights.size(); ++layer) {
        score.add(layer, weights[layer].span<float>().subspan(row * stride, stride), batch.length,
                  links);
      }
    }
    HeadFinding finding{pattern.name, pattern.words, 0, 0, 0, pattern.links(sequences.front())};
    std::erase_if(finding.links, [shown](const Link& link) { return link.query >= shown; });
    score.write_best(finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace train
