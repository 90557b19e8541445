/// \file
/// Scores of a model that are recorded while it is trained.
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
  std::vector<std::string> activations;  ///< The names of the activations that `score` reads.
  /// Computes one number or several, such as one for each head. The shape must always be the same.
  std::function<Tensor(const ActivationCache&)> score;
};

/// Records scores of a model every `every` steps, always on the same input:
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
/// In a training loop of your own, call `watch(step)` after each step. The Trainer writes the
/// scores to its log (log.jsonl). To record, the Watch calls the model once in evaluation mode. The
/// call stores only the named activations, and builds no graph. After a run was resumed, the Watch
/// has only the later records, but the log has all of them.
class Watch {
 public:
  /// `model` must outlive this object.
  ///
  /// Throws: Error - `every` is below 1
  template <std::derived_from<nn::ModuleBase> Model>
  Watch(Model& model, const Tensor& input, std::vector<WatchedScore> scores, std::int64_t every = 1)
      : Watch(
            model, [&model, input] { model(input); }, std::move(scores), every) {}
  /// `call` is a function that calls the model.
  Watch(nn::ModuleBase& model, std::function<void()> call, std::vector<WatchedScore> scores,
        std::int64_t every = 1);

  /// If `step` is a multiple of `every`, records the scores and returns true. Otherwise it returns
  /// false. Errors of run_with_cache and of the scores pass through.
  bool operator()(std::int64_t step);
  /// For TrainerOptions::after_step. It also writes the scores into `step`.
  void operator()(nn::TrainedStep& step);

  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// All records of a score: (records, shape of the score).
  ///
  /// Throws:
  ///   IndexError - there is no score of this name
  ///   Error      - nothing was recorded yet
  Tensor values(std::string_view name) const;
  /// A chart for RunPage: one view for each score, with a curve for each of its numbers.
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
