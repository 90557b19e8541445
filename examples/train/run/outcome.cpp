#include "examples/train/run/outcome.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "examples/train/page/format.h"
#include "examples/train/run/evaluation.h"
#include "examples/train/run/held_out.h"

namespace train {

namespace {

constexpr std::size_t kScored = 100;  // sequences whose attention weights are averaged
constexpr std::size_t kSamples = 8;
constexpr std::size_t kExamples = 36;          // sequences to choose from on the page
constexpr std::size_t kMostWeights = 2 << 20;  // on the page, at two bytes each

/// The evaluation of both sets of answers together.
Evaluation combined(const Evaluation& a, const Evaluation& b) {
  const auto first = static_cast<double>(a.answers);
  const auto second = static_cast<double>(b.answers);
  const double all = first + second;
  return {(a.loss * first + b.loss * second) / all,
          (a.exact_match * first + b.exact_match * second) / all, a.answers + b.answers};
}

/// Chooses `count` sequences, evenly spread, because neighbouring sequences of a text are similar.
std::vector<Tokens> spread(std::span<const Tokens> sequences, std::size_t count) {
  count = std::min(count, sequences.size());
  std::vector<Tokens> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(sequences[i * sequences.size() / count]);
  }
  return chosen;
}

std::vector<Tokens> beginnings(const Task& task, std::span<const Tokens> held_out,
                               const Sampling& sampling) {
  if (sampling.prompt) return {encode(task, *sampling.prompt)};
  std::vector<Tokens> sequences = spread(held_out, kSamples);
  for (Tokens& tokens : sequences) tokens.resize(task.prompt);
  return sequences;
}

/// As many examples as fit on a page of a few megabytes, but at least one.
std::vector<AttentionExample> make_examples(Training& t, const std::vector<Tokens>& sequences) {
  std::vector<AttentionExample> examples;
  std::size_t carried = 0;
  for (const Tokens& sequence : sequences) {
    AttentionExample example = make_example(t.model, t.task, sequence);
    const std::size_t size = example.inputs.size();
    carried += t.options.layers * t.options.heads * size * (size + 1) / 2;
    if (!examples.empty() && carried > kMostWeights) break;
    examples.push_back(std::move(example));
  }
  return examples;
}

std::string several(std::uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

constexpr double kLearned = 0.9;  // the share of right answers; all tasks reach 0.99

/// Says if a complete run did not learn its task. For a text, the loss must be lower than the loss
/// of guessing.
std::string verdict(const Training& t, const Evaluation& found) {
  if (!t.is_complete()) return "";
  const auto size = static_cast<double>(t.task.labels.size());
  std::string what;
  if (t.task.name != "text") {
    if (found.exact_match >= kLearned) return "";
    what = "only " + percent(found.exact_match) + " of the held-out answers are right";
  } else {
    if (found.loss < std::log(size)) return "";
    what = "the held-out loss is not lower than the loss of guessing, " + fixed(std::log(size), 4);
  }
  return "not learned: " + what + "; more --steps, another --rate or another --seed may help";
}

std::string sample_line(const Sample& sample) {
  const std::string separator = sample.expected.empty() ? "|" : " ";
  const bool right = sample.expected.empty() || sample.answer == sample.expected;
  return "  " + printable(sample.question + separator + sample.answer) +
         (right ? "" : "  (expected " + printable(sample.expected) + ")") + "\n";
}

}  // namespace

std::string introduction(const Training& training) {
  const Options& s = training.options;
  std::string text =
      training.task.name + ": " + training.task.goal + "\n" + several(s.layers, "layer") + ", " +
      several(s.heads, "head") + ", width " + std::to_string(s.width) + ": " +
      several(static_cast<std::uint64_t>(training.model.num_parameters()), "parameter") + "; " +
      several(training.steps_planned(), "step") + " of " + several(s.batch, "sequence");
  if (s.max_steps > training.steps_planned()) {
    text += ", up to " + std::to_string(s.max_steps) + " while a check finds wrong answers";
  }
  if (training.steps_done() > 0) {
    text += ", continuing from step " + std::to_string(training.steps_done());
  }
  return text + "\n";
}

Report make_report(Training& t, const Course& course, const Sampling& sampling) {
  const bool is_text = t.task.name == "text";
  const std::vector<Tokens> sequences = examination_sequences(t.task);
  const std::span<const Tokens> all(sequences);
  Evaluation found = evaluate(t.model, t.task, all);
  if (t.task.rest.size() > 1) {
    found = combined(found, evaluate(t.model, t.task, std::span(&t.task.rest, 1)));
  }
  Report r;
  r.task = t.task.name;
  r.goal = t.task.goal;
  r.steps_done = t.steps_done();
  r.steps_planned = t.steps_planned();
  r.failure = course.failure;
  r.seconds = course.history.seconds;
  r.tokens_per_second = t.tokens_per_second();
  r.parameters = static_cast<std::uint64_t>(t.model.num_parameters());
  r.exact_match = found.exact_match;
  r.validation_loss = found.loss;
  r.held_out = found.answers;
  r.losses = course.history.losses;
  r.validations = course.history.validations;
  r.checks = course.history.checks;
  r.scores = score_heads(t.model, t.task, all.first(std::min(kScored, all.size())));
  for (const Pattern& pattern : all_patterns(t.task)) r.patterns.push_back(pattern.name);
  r.findings = find_heads(t.task, r.scores, t.options.heads);
  r.examples = make_examples(t, spread(all, kExamples));
  r.over_time = course.history.heads;
  r.verdict = verdict(t, found);
  if (is_text) {
    r.samples =
        text_samples(t.model, t.task, beginnings(t.task, all, sampling), sampling, t.options.seed);
    r.decoding = describe(sampling);
  } else {
    r.samples = answer_samples(t.model, t.task, spread(all, kSamples));
  }
  r.options = describe(t.options);
  return r;
}

std::string summary(const Report& r) {
  std::string text = "trained ";
  if (!r.failure.empty()) {
    text = "failed after " + several(r.losses.size(), "step") + ", ";
  } else if (r.steps_done < r.steps_planned) {
    text = "stopped after " + several(r.steps_done, "step") + ", ";
  }
  text +=
      "in " + duration(r.seconds) + ", " + fixed(r.tokens_per_second / 1000, 0) + "k tokens/s\n" +
      (r.failure.empty() ? ""
                         : "the model is from after step " + std::to_string(r.steps_done) + "\n") +
      "held out: loss " + fixed(r.validation_loss, 4) + ", " + percent(r.exact_match) + " of " +
      several(r.held_out, r.task == "text" ? "byte" : "answer") + " right\n";
  for (const std::string& line : check_lines(r)) text += line + "\n";
  if (!r.verdict.empty()) text += r.verdict + "\n";
  for (const HeadFinding& f : r.findings) {
    text += f.pattern + ": layer " + std::to_string(f.layer) + ", head " + std::to_string(f.head) +
            ", weight " + fixed(f.mean_weight, 4) + "\n";
  }
  text += "samples, decoded " + r.decoding + ":\n";
  for (const Sample& sample : r.samples) text += sample_line(sample);
  return text;
}

}  // namespace train
