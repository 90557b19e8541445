/// \file
/// Scores of a model while it is trained.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/attention/lens/run.h>
#include <tend/nn/training/run_log.h>
#include <tend/nn/training/run_page.h>

namespace tend::lens {

/// A score that a Watch records.
struct WatchedScore {
  std::string name;
  std::vector<std::string> activations;  ///< The names of those that it reads.
  /// One number or several, such as one a head; always of one shape.
  std::function<Tensor(const ActivationCache&)> score;
};

/// Records scores of a model every so many steps, on the same input:
///
///     lens::Watch watch(model, tokens,
///                       {{"induction", {"blocks.1.attn.hook_pattern"},
///                         [&](const lens::ActivationCache& cache) {
///                           return lens::induction_score(cache["blocks.1.attn.hook_pattern"],
///                           tokens);
///                         }}},
///                       /*every=*/100);
///     nn::Trainer trainer(model, optimizer, loss, {.steps = 1000, .after_step = std::ref(watch)});
///
/// or, in a loop by hand, `watch(step)` after each step. The Trainer's log gets the scores
/// (log.jsonl). A record is one call of the model in evaluation mode without a graph, which makes
/// only the named activations. A run that is resumed has the later records only; the log has all.
class Watch {
 public:
  /// `model` must live as long. Error where `every` is below 1.
  template <std::derived_from<nn::ModuleBase> Model>
  Watch(Model& model, const Tensor& input, std::vector<WatchedScore> scores, std::int64_t every = 1)
      : Watch(
            model, [&model, input] { model(input); }, std::move(scores), every) {}
  /// With any call of the model.
  Watch(nn::ModuleBase& model, std::function<void()> call, std::vector<WatchedScore> scores,
        std::int64_t every = 1);

  /// Records, where it is due, the scores after `step` steps, and returns whether it did. What
  /// run_with_cache and the scores throw.
  bool operator()(std::int64_t step);
  /// The same for TrainerOptions::after_step. The step gets the scores.
  void operator()(nn::TrainedStep& step);

  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// All records of a score, (steps, the score's shape). IndexError for another name; Error where
  /// nothing was recorded.
  Tensor values(std::string_view name) const;
  /// For RunPage: a view for each score, with a curve for each of its numbers.
  nn::Chart chart() const;

 private:
  nn::ModuleBase& model_;
  std::function<void()> call_;
  std::vector<WatchedScore> scores_;
  std::int64_t every_;
  std::vector<std::int64_t> steps_;
  std::vector<std::vector<Tensor>> records_;  // [score][step]
};

}  // namespace tend::lens
