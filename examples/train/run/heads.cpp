#include <algorithm>
#include <cmath>
#include <set>

#include "examples/train/run/evaluation.h"

namespace train {

using tend::Tensor;

namespace {

constexpr std::size_t kReadable = 40;  // tokens that fit on a page

const std::string& label(const Task& task, std::int64_t token) {
  return task.labels[static_cast<std::size_t>(token)];
}

constexpr std::size_t kWeightsAtOnce = std::size_t{1} << 24;  // 64 MiB

/// Sums over all sequences for one pattern: the attention of each head on the pattern's links, and
/// the number of queries with a link.
struct PatternSums {
  std::vector<double> heads;
  std::size_t queries = 0;
};

std::size_t count_queries(const std::vector<Link>& links) {
  std::set<std::size_t> queries;
  for (const Link& link : links) queries.insert(link.query);
  return queries.size();
}

double share_on(const std::vector<Link>& links, std::span<const float> weights,
                std::size_t length) {
  double sum = 0;
  for (const Link& link : links)
    sum += static_cast<double>(weights[link.query * length + link.key]);
  return sum;
}

/// The mean entropy of all queries except the first.
double entropy(std::span<const float> weights, std::size_t length) {
  double sum = 0;
  for (std::size_t query = 1; query < length; ++query) {
    for (const float weight : weights.subspan(query * length, query + 1)) {
      const auto w = static_cast<double>(weight);
      if (w > 0) sum -= w * std::log(w);
    }
  }
  return length > 1 ? sum / static_cast<double>(length - 1) : 0.0;
}

/// Computes the scores of all heads, sequence by sequence.
class HeadStudy {
 public:
  HeadStudy(const Task& task, std::size_t heads)
      : patterns_(all_patterns(task)),
        sums_(patterns_.size(), PatternSums{std::vector<double>(heads), 0}),
        entropies_(heads) {}

  void begin(const Tokens& sequence) {
    links_.clear();
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      links_.push_back(patterns_[i].links(sequence));
      sums_[i].queries += count_queries(links_.back());
    }
    ++sequences_;
  }
  void add(std::size_t head, std::span<const float> weights, std::size_t length) {
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      sums_[i].heads[head] += share_on(links_[i], weights, length);
    entropies_[head] += entropy(weights, length);
  }
  std::vector<HeadScore> scores() const {
    std::vector<HeadScore> scores(entropies_.size());
    for (std::size_t head = 0; head < scores.size(); ++head) {
      scores[head].entropy = entropies_[head] / static_cast<double>(sequences_);
      for (const PatternSums& sums : sums_)  // NaN for a pattern without queries
        scores[head].shares.push_back(sums.heads[head] / static_cast<double>(sums.queries));
    }
    return scores;
  }

 private:
  std::vector<Pattern> patterns_;
  std::vector<PatternSums> sums_;
  std::vector<double> entropies_;
  std::vector<std::vector<Link>> links_;
  std::size_t sequences_ = 0;
};

}  // namespace

AttentionExample make_example(Model& model, const Task& task, const Tokens& sequence) {
  const tend::nn::EvaluationMode mode(model);
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
  for (const Pattern& pattern : task.patterns) {
    std::vector<Link>& links = example.links.emplace_back(pattern.links(sequence));
    std::erase_if(links, [shown](const Link& link) { return link.query >= shown; });
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

std::vector<HeadScore> score_heads(Model& model, const Task& task,
                                   std::span<const Tokens> sequences) {
  const tend::nn::EvaluationMode mode(model);
  const std::size_t length = task.context();
  const auto layers = static_cast<std::size_t>(model.config.num_layers);
  const auto heads = static_cast<std::size_t>(model.config.num_heads);
  const std::size_t square = length * length;
  const std::size_t rows = std::max<std::size_t>(1, kWeightsAtOnce / (layers * heads * square));
  HeadStudy study(task, layers * heads);
  for (std::size_t begin = 0; begin < sequences.size(); begin += rows) {
    const auto part = sequences.subspan(begin, std::min(rows, sequences.size() - begin));
    const Batch batch = make_batch(task, part);
    const std::vector<Tensor> weights =
        model.with_weights(token_tensor(batch.inputs, batch.size, length)).weights;
    for (std::size_t row = 0; row < part.size(); ++row) {
      study.begin(part[row]);
      for (std::size_t head = 0; head < layers * heads; ++head) {
        const std::size_t at = (row * heads + head % heads) * square;
        study.add(head, weights[head / heads].span<float>().subspan(at, square), length);
      }
    }
  }
  return study.scores();
}

std::vector<HeadFinding> find_heads(const Task& task, const std::vector<HeadScore>& scores,
                                    std::size_t heads) {
  std::vector<HeadFinding> findings;
  for (std::size_t i = 0; i < task.patterns.size(); ++i) {
    const Pattern& pattern = task.patterns[i];
    const auto best = std::max_element(
        scores.begin(), scores.end(),
        [i](const HeadScore& a, const HeadScore& b) { return a.shares[i] < b.shares[i]; });
    const auto index = static_cast<std::size_t>(best - scores.begin());
    const double share = std::isnan(best->shares[i]) ? 0.0 : best->shares[i];
    findings.push_back({pattern.name, pattern.words, index / heads + 1, index % heads + 1, share});
  }
  return findings;
}

}  // namespace train
