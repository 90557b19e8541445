// Muon: momentum for matrices, with steps that are orthogonal.
#pragma once

#include <cstdint>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// The factor of a step for a matrix of shape (rows, columns). For `original` it is
/// sqrt(max(1, rows / columns)). For `match_rms_adamw` it is 0.2 sqrt(max(rows, columns)): elements
/// then move about as far as with AdamW, so AdamW's lr can be used.
enum class MuonAdjust { original, match_rms_adamw };

/// The options of Muon.
struct MuonOptions {
  double lr = 1e-3;
  /// Decoupled weight decay: each step subtracts lr * weight_decay * parameter.
  double weight_decay = 0.1;
  double momentum = 0.95;
  Flag nesterov = true;
  double eps = 1e-7;          ///< The direction is divided by its norm or, if larger, by eps.
  std::int64_t ns_steps = 5;  ///< The number of Newton-Schulz iterations.
  MuonAdjust adjust_lr_fn = MuonAdjust::original;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("weight_decay", &weight_decay);
    f("momentum", &momentum);
    f("nesterov", &nesterov);
    f("eps", &eps);
    f("ns_steps", &ns_steps);
    Flag matches = adjust_lr_fn == MuonAdjust::match_rms_adamw;
    f("match_rms_adamw", &matches);
    adjust_lr_fn = matches ? MuonAdjust::match_rms_adamw : MuonAdjust::original;
  }
};

/// Gradient descent with momentum for the matrices within a model. Each step is made orthogonal.
///
/// Use another optimizer for embeddings, output layers, biases and gains. Names and defaults are
/// the same as in torch.optim.Muon (PyTorch 2.9). Matrix products are computed in the parameters'
/// dtype.
/// Jordan et al. 2024, https://kellerjordan.github.io/posts/muon.
///
///     const auto groups = optim::decay_groups(model, 0.1, [](const auto& name, const Tensor& p) {
///       return p.dim() == 2 && name.starts_with("blocks.");
///     });
///     optim::Muon muon(groups.decayed(), {.lr = 0.02});
///     optim::AdamW adamw(groups.others(), {.lr = 3e-4});
class Muon : public GroupedOptimizer<Muon, MuonOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Muon";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);
  /// Throws a ShapeError if the parameter is not a matrix.
  static void check_parameter(const Tensor& parameter);

 private:
  std::vector<StateName> state_names() const override { return {{"momentum_buffer", true}}; }
  Update update(const ParameterStep& step, const Options& options) const override;
};

}  // namespace tend::optim
