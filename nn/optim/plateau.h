// ReduceLROnPlateau: a schedule that depends on a metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tend/core/base/words.h>
#include <tend/nn/optim/schedule.h>

namespace tend::optim {

enum class PlateauMode { min, max };
enum class ThresholdMode { rel, abs };

/// The options of ReduceLROnPlateau.
struct PlateauOptions {
  OrWord<PlateauMode> mode = PlateauMode::min;  ///< max: larger metrics are better.
  double factor = 0.1;                          ///< A reduction multiplies each rate by it.
  std::int64_t patience = 10;                   ///< The number of bad epochs before a reduction.
  /// The least improvement on the best metric that counts: a share of the best metric (rel), or a
  /// number (abs).
  double threshold = 1e-4;
  OrWord<ThresholdMode> threshold_mode = ThresholdMode::rel;
  std::int64_t cooldown = 0;  ///< The number of epochs after a reduction that do not count as bad.
  PerGroup min_lr = 0;        ///< The least learning rate.
  double eps = 1e-8;          ///< Smaller reductions are skipped.
};

/// Reduces the learning rates when a metric has stopped getting better, as
/// torch.optim.lr_scheduler.ReduceLROnPlateau does. The optimizer must live as long as this object.
///
/// Throws:
///   Error - factor is not in (0, 1), or patience or cooldown is negative
///   Error - min_lr has several numbers, but not one for each group
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options = {});

  /// Ends an epoch with this metric. NaN is not better than anything.
  void step(double metric);
  /// The rates that the groups have now.
  std::vector<double> get_last_lr() const;
  double best() const noexcept { return best_; }

  /// "last_epoch", "num_bad_epochs", "cooldown_counter" and "best".
  nn::StateDict state_dict() const;
  /// Loads a state_dict(). Nothing has changed after an error.
  ///
  /// Throws: Error - a key is missing, appears twice, does not fit or is unknown; the message names
  ///                 the first such key
  void load_state_dict(const nn::StateDict& state);

 private:
  bool is_better(double metric) const;

  Optimizer* optimizer_;
  PlateauOptions options_;
  double best_;
  std::int64_t last_epoch_ = 0;
  std::int64_t bad_epochs_ = 0;
  std::int64_t cooldown_ = 0;  // the number of epochs until the cooldown ends
};

}  // namespace tend::optim

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<optim::PlateauMode> = "mode: min max";
template <>
inline constexpr std::string_view kWords<optim::ThresholdMode> = "threshold_mode: rel abs";
}  // namespace tend::detail
