/// \file
/// Schedules of learning rates. The ones that torch.optim.lr_scheduler has give its numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>
#include <tend/nn/optim/schedule.h>

namespace tend::optim {

/// The rate times `gamma` every `step_size` epochs. Error unless step_size is at least 1.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, Integer step_size, double gamma = 0.1);
};

/// The rate times `gamma` at each of the epochs `milestones`; twice at an epoch that is listed
/// twice.
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);
};

/// The rate times `gamma` every epoch.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);
};

/// The rate times `factor` for the first `total_iters` epochs (if that is 0, for ever, as in
/// PyTorch). Error unless factor is in (0, 1].
class ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, Integer total_iters = 5);
};

/// The options of LinearLR.
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
};

/// The rate times (1 - epoch / total_iters)^power, and 0 after total_iters epochs. Error unless
/// total_iters is at least 1.
class PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, Integer total_iters = 5, double power = 1);
};

/// The initial rate times a function of the epoch: one function for all groups, or one for each.
class LambdaLR : public LRScheduler {
 public:
  using Factor = std::function<double(std::int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, const Factor& factor);
  /// Error unless there is a function for each group.
  LambdaLR(Optimizer& optimizer, std::vector<Factor> factors);
};

/// From the initial rate to `eta_min` in t_max epochs along half a cosine, and back in the next
/// t_max (Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983). PyTorch calls it T_max.
/// Error unless it is at least 1.
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, Integer t_max, double eta_min = 0);
};

/// The options of CosineAnnealingWarmRestarts.
struct WarmRestartsOptions {
  std::int64_t T_0 = 10;    ///< Epochs of the first cosine.
  std::int64_t T_mult = 1;  ///< Each next cosine is T_mult times longer.
  double eta_min = 0;       ///< The rate at which each ends.
};

/// One half cosine after the other, each from the initial rate (Loshchilov and Hutter 2017). Error
/// unless T_0 and T_mult are at least 1.
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, const WarmRestartsOptions& options);
};

enum class AnnealStrategy { cos, linear };

/// The options of OneCycleLR.
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

/// One cycle of the rate: up to max_lr, and down to nearly 0 (Smith and Topin 2018,
/// https://arxiv.org/abs/1708.07120). If one optimizer has two of them, each uses its own rates; in
/// PyTorch the first one would use the rates of the second.
///
/// Throws: Error - total_steps is below 1, or pct_start is outside of [0, 1]
///               - cycle_momentum is true and the optimizer has no momentum
///               - a setting has several numbers, but not one for each group
///               - step() goes beyond total_steps
///               - a rate or momentum is not finite, as in a phase without length: the first if
///                 pct_start * total_steps is 1, the last if pct_start is 1
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);
};

/// The options of CosineWithWarmup.
struct CosineWithWarmupOptions {
  std::int64_t warmup = 0;  ///< Steps of the warm-up: the rate times (step + 1) / (warmup + 1).
  std::int64_t total = 0;   ///< From this step on the rate is min_lr.
  double min_lr = 0;
};

/// A linear warm-up, then half a cosine down to min_lr, as nanoGPT trains GPT-2. Error unless
/// 0 <= warmup < total. PyTorch has no such schedule.
class CosineWithWarmup : public LRScheduler {
 public:
  CosineWithWarmup(Optimizer& optimizer, const CosineWithWarmupOptions& options);
};

/// A linear warm-up as in CosineWithWarmup, then lr sqrt(warmup / step) (Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762). Error for a warmup below 1. PyTorch has no such schedule.
class InverseSquareRootLR : public LRScheduler {
 public:
  InverseSquareRootLR(Optimizer& optimizer, Integer warmup);
};

enum class WSDDecay { linear, one_minus_sqrt };

/// The options of WSDLR.
struct WSDLROptions {
  std::int64_t warmup = 0;  ///< Steps of the warm-up, as in CosineWithWarmup.
  std::int64_t total = 0;   ///< From this step on the rate is min_lr.
  std::int64_t decay = 0;   ///< The number of steps before `total` in which it falls.
  double min_lr = 0;
  WSDDecay shape = WSDDecay::linear;
};

/// Warm-up, a stable rate, and decay (Hu et al. 2024, https://arxiv.org/abs/2404.06395), linear or
/// as 1 - sqrt(share) (Haegele et al. 2024, https://arxiv.org/abs/2405.18392). Error unless warmup
/// and decay are not negative and fit into total, which is at least 1. PyTorch has no such
/// schedule.
class WSDLR : public LRScheduler {
 public:
  WSDLR(Optimizer& optimizer, const WSDLROptions& options);
};

}  // namespace tend::optim

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<optim::AnnealStrategy> = "anneal_strategy: cos linear";
}  // namespace tend::detail
