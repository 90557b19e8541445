/// \file
/// Schedules of learning rates. Those that torch.optim.lr_scheduler has give its numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>
#include <tend/nn/optim/per_group.h>
#include <tend/nn/optim/schedule.h>

namespace tend::optim {

/// The rate times `gamma` every `step_size` epochs. Error unless step_size is at least 1.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, Integer step_size, double gamma = 0.1);

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  std::int64_t step_size_;
  double gamma_;
};

/// The rate times `gamma` at each of the epochs `milestones`, twice at one that is there twice.
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  double first_rate(const Place& place) const override;
  std::vector<std::int64_t> milestones_;
  double gamma_;
};

/// The rate times `gamma` every epoch.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  double gamma_;
};

/// The rate times `factor` for the first `total_iters` epochs (for 0 for ever, as in PyTorch).
/// Error unless factor is in (0, 1].
class ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, Integer total_iters = 5);

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  double first_rate(const Place& place) const override;
  double factor_;
  std::int64_t total_iters_;
};

struct LinearLROptions {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;
};

/// The rate times a factor that goes from start_factor to end_factor in total_iters epochs. Error
/// unless start_factor is in (0, 1], end_factor in [0, 1], and total_iters at least 1.
class LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, const LinearLROptions& options = {});

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  double first_rate(const Place& place) const override;
  LinearLROptions options_;
};

/// The rate times (1 - epoch / total_iters)^power, 0 from then on. Error unless total_iters is at
/// least 1.
class PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, Integer total_iters = 5, double power = 1);

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  std::int64_t total_iters_;
  double power_;
};

/// The initial rate times what a function of the epoch gives: one function for all groups, or one
/// for each.
class LambdaLR : public LRScheduler {
 public:
  using Factor = std::function<double(std::int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, const Factor& factor);
  /// Error unless there is a function for each group.
  LambdaLR(Optimizer& optimizer, std::vector<Factor> factors);

 private:
  double rate(const Place& place) const override;
  std::vector<Factor> factors_;
};

/// From the initial rate to `eta_min` in t_max epochs along half a cosine, and back in as many
/// (Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983). PyTorch calls them T_max. Error
/// unless there is at least one.
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, Integer t_max, double eta_min = 0);

 private:
  double rate(const Place& place) const override;
  bool follows_last_rate() const noexcept override { return true; }
  std::int64_t t_max_;
  double eta_min_;
};

struct WarmRestartsOptions {
  std::int64_t T_0 = 10;    ///< Epochs of the first cosine.
  std::int64_t T_mult = 1;  ///< Each is as many times longer than the one before.
  double eta_min = 0;       ///< Where each ends.
};

/// One half cosine after the other, each from the initial rate (Loshchilov and Hutter 2017). Error
/// unless T_0 and T_mult are at least 1.
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, const WarmRestartsOptions& options);

 private:
  double rate(const Place& place) const override;
  WarmRestartsOptions options_;
};

enum class AnnealStrategy { cos, linear };

struct OneCycleLROptions {
  PerGroup max_lr = 0;
  std::int64_t total_steps = 0;
  double pct_start = 0.3;  ///< The share of the steps in which the rate rises.
  OrWord<AnnealStrategy> anneal_strategy = AnnealStrategy::cos;
  Flag cycle_momentum = true;  ///< The momentum, or the first beta, falls while the rate rises.
  PerGroup base_momentum = 0.85;
  PerGroup max_momentum = 0.95;
  double div_factor = 25;         ///< The first rate is max_lr / div_factor,
  double final_div_factor = 1e4;  ///< and the last one that / final_div_factor.
  Flag three_phase = false;       ///< Falls as fast as it rose, and then further.
};

/// Smith and Topin 2018, https://arxiv.org/abs/1708.07120. Error for total_steps below 1, pct_start
/// outside of [0, 1], factors that give rates which are not finite, for cycle_momentum with an
/// optimizer that has none, for other than one number or one for each group, for a step beyond
/// total_steps, and for a phase without a length: the first where pct_start * total_steps is 1,
/// refused at once, the last where pct_start is 1, refused at step total_steps. Of two on one
/// optimizer each keeps its own rates; PyTorch's first one would take those of the second.
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);

 private:
  /// Where a phase begins or ends: at the first, the highest or the last rate.
  enum class Level : std::uint8_t { first, highest, last };
  struct Phase {
    double end;
    Level start, target;
  };
  double rate(const Place& place) const override;
  std::optional<double> momentum(const Place& place) const override;
  /// The phase of an epoch, and how much of it has passed.
  std::pair<Phase, double> phase_at(std::int64_t epoch) const;
  double rate_at(Level level, std::size_t group) const;
  double momentum_at(Level level, std::size_t group) const;
  double annealed(double start, double end, double share) const;

  OneCycleLROptions options_;
};

struct CosineWithWarmupOptions {
  std::int64_t warmup = 0;  ///< Steps in which the rate rises: (step + 1) / (warmup + 1) of it.
  std::int64_t total = 0;   ///< The step from which on it is min_lr.
  double min_lr = 0;
};

/// A linear warm-up, then half a cosine down to min_lr, as nanoGPT trains GPT-2. Error unless
/// 0 <= warmup < total. PyTorch has none.
class CosineWithWarmup : public LRScheduler {
 public:
  CosineWithWarmup(Optimizer& optimizer, const CosineWithWarmupOptions& options);

 private:
  double rate(const Place& place) const override;
  CosineWithWarmupOptions options_;
};

/// A linear warm-up as that of CosineWithWarmup, then lr sqrt(warmup / step) (Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762). Error for a warmup below 1. PyTorch has none.
class InverseSquareRootLR : public LRScheduler {
 public:
  InverseSquareRootLR(Optimizer& optimizer, Integer warmup);

 private:
  double rate(const Place& place) const override;
  std::int64_t warmup_;
};

enum class WSDDecay { linear, one_minus_sqrt };

struct WSDLROptions {
  std::int64_t warmup = 0;  ///< Steps in which the rate rises, as those of CosineWithWarmup.
  std::int64_t total = 0;   ///< The step from which on it is min_lr.
  std::int64_t decay = 0;   ///< The steps before that in which it falls.
  double min_lr = 0;
  WSDDecay shape = WSDDecay::linear;
};

/// Warm-up, a stable rate, and decay (Hu et al. 2024, https://arxiv.org/abs/2404.06395), linear or
/// as 1 - sqrt(share) (Haegele et al. 2024, https://arxiv.org/abs/2405.18392). Error unless warmup
/// and decay are not negative and fit into total, which is at least 1. PyTorch has none.
class WSDLR : public LRScheduler {
 public:
  WSDLR(Optimizer& optimizer, const WSDLROptions& options);

 private:
  double rate(const Place& place) const override;
  WSDLROptions options_;
};

}  // namespace tend::optim

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<optim::AnnealStrategy> = "anneal_strategy: cos linear";
}  // namespace tend::detail
