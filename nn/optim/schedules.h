/// \file
/// Schedules of learning rates. If torch.optim.lr_scheduler has the same schedule, the rates are
/// the same.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>
#include <tend/nn/optim/schedule.h>

namespace tend::optim {

/// Multiplies the rate by `gamma` every `step_size` epochs.
///
/// Throws: Error - step_size is below 1
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, Integer step_size, double gamma = 0.1);
};

/// Multiplies the rate by `gamma` at each of the epochs `milestones`, and twice at an epoch that is
/// listed twice.
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);
};

/// Multiplies the rate by `gamma` in every epoch.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);
};

/// Multiplies the initial rate by `factor` for the first `total_iters` epochs. If total_iters is 0,
/// it does so forever, as in PyTorch.
///
/// Throws: Error - factor is not in (0, 1]
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

/// Multiplies the initial rate by a factor that changes linearly from start_factor to end_factor,
/// in total_iters epochs.
///
/// Throws:
///   Error - start_factor is not in (0, 1], or end_factor is not in [0, 1]
///   Error - total_iters is below 1
class LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, const LinearLROptions& options = {});
};

/// Multiplies the initial rate by (1 - epoch / total_iters)^power. After total_iters epochs, the
/// rate is 0.
///
/// Throws: Error - total_iters is below 1
class PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, Integer total_iters = 5, double power = 1);
};

/// Multiplies the initial rate by a function of the epoch. There is one function for all groups, or
/// one for each.
///
/// Throws: Error - a function is empty, or there is not one function for each group
class LambdaLR : public LRScheduler {
 public:
  using Factor = std::function<double(std::int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, const Factor& factor);
  /// One function for each group.
  LambdaLR(Optimizer& optimizer, std::vector<Factor> factors);
};

/// Moves the rate along a cosine: from the initial rate to `eta_min` in t_max epochs, and back in
/// the next t_max epochs.
///
/// PyTorch's name for t_max is T_max. Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983.
///
/// Throws: Error - t_max is below 1
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, Integer t_max, double eta_min = 0);
};

/// The options of CosineAnnealingWarmRestarts.
struct WarmRestartsOptions {
  std::int64_t T_0 = 10;    ///< The number of epochs of the first half cosine.
  std::int64_t T_mult = 1;  ///< Each half cosine is T_mult times as long as the one before.
  double eta_min = 0;       ///< The rate at which each half cosine ends.
};

/// Moves the rate along half a cosine from the initial rate to `eta_min`, again and again
/// (Loshchilov and Hutter 2017).
///
/// Throws: Error - T_0 or T_mult is below 1
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
  double div_factor = 25;         ///< The first rate is max_lr / div_factor.
  double final_div_factor = 1e4;  ///< The last rate is the first rate / final_div_factor.
  /// The rate falls to the first rate as fast as it rose, and then to the last rate.
  Flag three_phase = false;
};

/// One cycle of the rate: up to max_lr, and down to nearly 0 (Smith and Topin 2018,
/// https://arxiv.org/abs/1708.07120). If one optimizer has two OneCycleLRs, each uses its own
/// rates; in PyTorch the first one would use the rates of the second.
///
/// Throws:
///   Error - total_steps is below 1, or pct_start is not in [0, 1]
///   Error - cycle_momentum is true and the optimizer has no momentum
///   Error - a setting has several numbers, but not one for each group
///   Error - step() goes beyond total_steps
///   Error - a rate or momentum is not finite because a phase has no length: the first phase if
///           pct_start * total_steps is 1, the last phase if pct_start is 1
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options);
};

/// The options of CosineWithWarmup.
struct CosineWithWarmupOptions {
  /// The number of warm-up steps, which multiply the rate by (step + 1) / (warmup + 1).
  std::int64_t warmup = 0;
  std::int64_t total = 0;  ///< From this step on the rate is min_lr.
  double min_lr = 0;
};

/// A linear warm-up, then half a cosine down to min_lr, as in nanoGPT's training of GPT-2. PyTorch
/// has no such schedule.
///
/// Throws: Error - warmup is negative or not below total
class CosineWithWarmup : public LRScheduler {
 public:
  CosineWithWarmup(Optimizer& optimizer, const CosineWithWarmupOptions& options);
};

/// A linear warm-up as in CosineWithWarmup, then the initial rate times sqrt(warmup / step).
/// PyTorch has no such schedule. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762.
///
/// Throws: Error - warmup is below 1
class InverseSquareRootLR : public LRScheduler {
 public:
  InverseSquareRootLR(Optimizer& optimizer, Integer warmup);
};

enum class WSDDecay { linear, one_minus_sqrt };

/// The options of WSDLR.
struct WSDLROptions {
  std::int64_t warmup = 0;  ///< The number of warm-up steps, as in CosineWithWarmup.
  std::int64_t total = 0;   ///< From this step on the rate is min_lr.
  std::int64_t decay = 0;   ///< The number of steps before `total` in which the rate falls.
  double min_lr = 0;
  WSDDecay shape = WSDDecay::linear;
};

/// A warm-up, a stable rate, and a decay. PyTorch has no such schedule.
///
/// Hu et al. 2024, https://arxiv.org/abs/2404.06395. The decay is linear, or follows 1 - sqrt(share
/// of the decay's steps): Haegele et al. 2024, https://arxiv.org/abs/2405.18392.
///
/// Throws:
///   Error - warmup or decay is negative, or total is below 1
///   Error - warmup + decay is more than total
class WSDLR : public LRScheduler {
 public:
  WSDLR(Optimizer& optimizer, const WSDLROptions& options);
};

}  // namespace tend::optim

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<optim::AnnealStrategy> = "anneal_strategy: cos linear";
}  // namespace tend::detail
