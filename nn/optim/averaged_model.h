// Running averages of a model's weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::optim {

/// The options of AveragedModel.
struct AveragedModelOptions {
  /// The weight of the old average in each update, for an exponential moving average. Without a
  /// decay, the average is the mean of the parameters at all updates.
  std::optional<double> decay = std::nullopt;
};

/// Averages of a model's parameters (torch.optim.swa_utils.AveragedModel). The first update copies
/// the parameters. Update n + 1 moves each average by (p - average) / (n + 1), or by
/// (1 - decay) (p - average). Izmailov et al. 2018, https://arxiv.org/abs/1803.05407.
///
///     optim::AveragedModel averaged(model, {.decay = 0.999});
///     for (...) { ...; optimizer.step(); averaged.update_parameters(); }
///     {
///       const optim::AveragedWeightsGuard guard(averaged);
///       validate(model);  // has the averages as its weights
///     }
///
/// An AveragedModel refers to the parameters that the model has when the AveragedModel is made.
/// Buffers are not averaged, and the guard does not change them.
class AveragedModel {
 public:
  /// The averages begin as copies of the parameters.
  ///
  /// Throws:
  ///   Error      - decay is not in [0, 1], or the model has no parameters
  ///   DTypeError - a parameter is not floating
  explicit AveragedModel(const nn::ModuleBase& model, const AveragedModelOptions& options = {});
  AveragedModel(const AveragedModel&) = delete;
  AveragedModel& operator=(const AveragedModel&) = delete;

  /// Updates the averages with the present parameters. Do not call it while there is an
  /// AveragedWeightsGuard.
  ///
  /// Throws:
  ///   ShapeError - a parameter's shape has changed
  ///   DTypeError - a parameter's dtype has changed
  void update_parameters();
  std::int64_t n_averaged() const noexcept { return n_averaged_; }

  /// The averages: "n_averaged", and "module.NAME" for every parameter. The names are the same as
  /// in PyTorch, whose state also has the buffers. The tensors are not copies: update_parameters()
  /// changes them.
  nn::StateDict state_dict() const;
  /// Loads a state_dict(). Nothing has changed after an error.
  ///
  /// Throws: Error - a key is missing, appears twice, does not fit or belongs to no parameter; the
  ///                 message names the first such key
  void load_state_dict(const nn::StateDict& state);

 private:
  friend class AveragedWeightsGuard;

  struct Weight {
    std::string key;
    Tensor parameter;
    Array average;  // row-major
  };

  std::vector<Weight> weights_;
  std::optional<double> decay_;
  std::int64_t n_averaged_ = 0;
};

/// The model has its averaged weights while this object lives, and its own weights afterwards.
///
/// Writes to the model's weights during that time are lost. Guards of one model must end in the
/// reverse order of their construction.
///
/// Throws:
///   ShapeError - a parameter's shape has changed
///   DTypeError - a parameter's dtype has changed
class AveragedWeightsGuard {
 public:
  [[nodiscard]] explicit AveragedWeightsGuard(AveragedModel& averaged);
  ~AveragedWeightsGuard();
  AveragedWeightsGuard(const AveragedWeightsGuard&) = delete;
  AveragedWeightsGuard& operator=(const AveragedWeightsGuard&) = delete;

 private:
  AveragedModel* averaged_;
  std::vector<Array> own_;  // the model's own weights
};

}  // namespace tend::optim
