// Running averages of a model's weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tend/nn/module/module.h>
#include <tend/nn/optim/kept_values.h>

namespace tend::optim {

struct AveragedModelOptions {
  /// How much of the average stays in an update: an exponential moving average. Without it the
  /// average is that of all updates.
  std::optional<double> decay = std::nullopt;
};

/// Averages of a model's parameters, beside the model (torch.optim.swa_utils.AveragedModel): the
/// first update takes the parameters as they are, update n + 1 moves each average by (p - average)
/// / (n + 1), with a decay by (1 - decay) (p - average). Izmailov et al. 2018,
/// https://arxiv.org/abs/1803.05407.
///
///     optim::AveragedModel averaged(model, {.decay = 0.999});
///     for (...) { ...; optimizer.step(); averaged.update_parameters(); }
///     {
///       const optim::AveragedWeightsGuard guard(averaged);
///       validate(model);  // has the averages as its weights
///     }
///
/// It refers to the parameters that the model has now. Buffers are not averaged: they are the
/// model's own, also under the guard.
class AveragedModel {
 public:
  /// The averages begin as the parameters. Error for a decay outside of [0, 1], and for a model
  /// without parameters.
  explicit AveragedModel(const nn::ModuleBase& model, const AveragedModelOptions& options = {});
  AveragedModel(const AveragedModel&) = delete;
  AveragedModel& operator=(const AveragedModel&) = delete;

  /// Takes the parameters as they are into the averages. Error under an AveragedWeightsGuard of
  /// these averages (a guard of other averages of the model is not noticed: those would be taken
  /// in); ShapeError and DTypeError for a parameter that has become another one. When something
  /// fails, nothing has changed.
  void update_parameters();
  std::int64_t n_averaged() const noexcept { return n_averaged_; }

  /// The averages: "n_averaged" and "module.NAME" for every parameter, as in PyTorch, whose state
  /// also has the buffers. The tensors are those that update_parameters() changes.
  nn::StateDict state_dict() const;
  /// An Error names the first key that is missing, does not fit or belongs to nothing; nothing has
  /// changed then.
  void load_state_dict(const nn::StateDict& state);

 private:
  friend class AveragedWeightsGuard;

  struct Weight {
    std::string key;
    Tensor parameter;
    Array average;  // row-major
  };

  std::vector<Tensor> parameters() const;

  std::vector<Weight> weights_;
  std::optional<double> decay_;
  std::int64_t n_averaged_ = 0;
  bool swapped_in_ = false;
};

/// The model has its averaged weights while this lives, and then those that it had before; what is
/// written to them meanwhile is lost, and what is saved meanwhile has the averages. Guards of
/// several averages of one model must end in the reverse order of their construction. Error for a
/// second guard of the same averages, ShapeError and DTypeError for a parameter that has become
/// another one, AutogradError for one that may not be written; nothing has changed then.
class AveragedWeightsGuard {
 public:
  [[nodiscard]] explicit AveragedWeightsGuard(AveragedModel& averaged);
  ~AveragedWeightsGuard();
  AveragedWeightsGuard(const AveragedWeightsGuard&) = delete;
  AveragedWeightsGuard& operator=(const AveragedWeightsGuard&) = delete;

 private:
  AveragedModel* averaged_;
  detail::KeptValues own_;
};

}  // namespace tend::optim
