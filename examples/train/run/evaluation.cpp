#include "examples/train/run/evaluation.h"

#include <algorithm>

namespace train {

using tend::Tensor;

namespace {

constexpr std::size_t kRows = 100;  // sequences of one forward pass

}  // namespace

Evaluation evaluate(Model& model, const Task& task, std::span<const Tokens> sequences) {
  const tend::nn::EvaluationMode mode(model);
  double loss = 0;
  std::uint64_t asked = 0;
  std::uint64_t right = 0;
  std::uint64_t all_right = 0;
  for (std::size_t begin = 0; begin < sequences.size(); begin += kRows) {
    const std::size_t rows = std::min(kRows, sequences.size() - begin);
    const Batch batch = make_batch(task, sequences.subspan(begin, rows));
    const Tensor logits = model(token_tensor(batch.inputs, batch.size, batch.length));
    const Tokens predicted = most_likely(logits);
    const std::uint64_t asked_before = asked;
    for (std::size_t row = 0; row < rows; ++row) {
      // Greedy decoding gives the right answer exactly if each prediction after right tokens is
      // right. So one pass over the right tokens is enough, without decoding.
      bool exact = true;
      for (std::size_t i = row * batch.length; i < (row + 1) * batch.length; ++i) {
        if (batch.targets[i] == kNoTarget) continue;
        const bool hit = predicted[i] == batch.targets[i];
        ++asked;
        right += hit ? 1 : 0;
        exact = exact && hit;
      }
      all_right += exact ? 1 : 0;
    }
    loss += answer_loss(logits, batch).item() * static_cast<double>(asked - asked_before);
  }
  if (asked == 0) return {};
  const bool by_token = task.name == "text";
  const std::uint64_t answers = by_token ? asked : sequences.size();
  return {loss / static_cast<double>(asked),
          static_cast<double>(by_token ? right : all_right) / static_cast<double>(answers),
          answers};
}

std::vector<Tokens> complete(Model& model, const Task& task, std::vector<Tokens> sequences,
                             std::size_t begin, const ChooseToken& choose) {
  const tend::nn::EvaluationMode mode(model);
  const std::size_t length = sequences.front().size();
  for (std::size_t next = begin; next < length; ++next) {
    if (next < task.is_answer.size() && !task.is_answer[next]) continue;
    const std::size_t seen = std::min(next, task.context());
    Tokens inputs;
    for (const Tokens& sequence : sequences) {
      const auto end = sequence.begin() + static_cast<std::ptrdiff_t>(next);
      inputs.insert(inputs.end(), end - static_cast<std::ptrdiff_t>(seen), end);
    }
    const Tensor logits = model(token_tensor(inputs, sequences.size(), seen))
                              .select(1, static_cast<std::int64_t>(seen) - 1)
                              .contiguous();
    const std::span<const float> values = logits.span<float>();
    const std::size_t tokens = task.labels.size();
    for (std::size_t row = 0; row < sequences.size(); ++row) {
      sequences[row][next] = choose(row, values.subspan(row * tokens, tokens));
    }
  }
  return sequences;
}

std::vector<Sample> answer_samples(Model& model, const Task& task,
                                   std::span<const Tokens> sequences) {
  if (sequences.empty()) return {};
  const auto likeliest = [](std::size_t, std::span<const float> logits) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  };
  const std::vector<Tokens> completed =
      complete(model, task, {sequences.begin(), sequences.end()}, task.prompt, likeliest);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < completed.size(); ++i) {
    const Tokens& sequence = sequences[i];
    samples.push_back({spell(task, sequence, 0, task.prompt),
                       spell(task, completed[i], task.prompt, completed[i].size()),
                       spell(task, sequence, task.prompt, sequence.size())});
  }
  return samples;
}

std::vector<Sample> text_samples(Model& model, const Task& task, std::span<const Tokens> beginnings,
                                 const Sampling& sampling, std::uint64_t seed) {
  if (beginnings.empty()) return {};
  const std::size_t begin = beginnings.front().size();
  std::vector<Tokens> started(beginnings.begin(), beginnings.end());
  for (Tokens& tokens : started) tokens.resize(begin + sampling.size);
  // Each sample has its own stream of random numbers, so that a sample does not depend on the
  // number of samples.
  std::vector<Random> random;
  random.reserve(started.size());
  for (std::size_t row = 0; row < started.size(); ++row) random.emplace_back(seed, row);
  const std::vector<Tokens> completed = complete(
      model, task, std::move(started), begin, [&](std::size_t row, std::span<const float> logits) {
        return draw_token(logits, sampling, random[row]);
      });
  std::vector<Sample> samples;
  samples.reserve(completed.size());
  for (const Tokens& tokens : completed) {
    samples.push_back(
        {spell(task, tokens, 0, begin), spell(task, tokens, begin, tokens.size()), ""});
  }
  return samples;
}

}  // namespace train
