#include <tend/nn/optim/schedules.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <tend/core/base/error.h>

namespace tend::optim {
namespace {

// Of a number of epochs or steps.
double real(std::int64_t count) {
  return static_cast<double>(count);
}

constexpr std::int64_t kMost = std::int64_t{1} << 53;  // which double can count

void check_at_least(const char* operation, const char* setting, std::int64_t value,
                    std::int64_t least) {
  if (value < least) fail(operation, setting, " must be at least ", least, ", got ", value);
  if (value > kMost) fail(operation, setting, " must be at most 2^53, got ", value);
}

// Whether a number is in [0, 1]; not for NaN.
bool is_share(double value) {
  return value >= 0 && value <= 1;
}

// The factor of a step of a linear warm-up.
double warmup_factor(std::int64_t step, std::int64_t warmup) {
  return real(step + 1) / real(warmup + 1);
}

// The same again for each group.
std::vector<LambdaLR::Factor> repeated(const Optimizer& optimizer, const LambdaLR::Factor& factor) {
  return std::vector<LambdaLR::Factor>(optimizer.group_count(), factor);
}

}  // namespace

StepLR::StepLR(Optimizer& optimizer, Integer step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  check_at_least("StepLR", "step_size", step_size_, 1);
  begin();
}

double StepLR::rate(const Place& p) const {
  return p.epoch == 0 || p.epoch % step_size_ != 0 ? p.lr : p.lr * gamma_;
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  begin();
}

double MultiStepLR::rate(const Place& p) const {
  const auto times = std::count(milestones_.begin(), milestones_.end(), p.epoch);
  return times == 0 ? p.lr : p.lr * std::pow(gamma_, real(times));
}

double MultiStepLR::first_rate(const Place& p) const {
  const auto passed = std::count_if(milestones_.begin(), milestones_.end(),
                                    [](std::int64_t milestone) { return milestone <= 0; });
  return p.base * std::pow(gamma_, real(passed));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LRScheduler(optimizer), gamma_(gamma) {
  begin();
}

double ExponentialLR::rate(const Place& p) const {
  return p.epoch == 0 ? p.lr : p.lr * gamma_;
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, Integer total_iters)
    : LRScheduler(optimizer), factor_(factor), total_iters_(total_iters) {
  if (!is_share(factor) || factor == 0)
    fail("ConstantLR", "factor ", factor, " must lie in (0, 1]");
  begin();
}

double ConstantLR::rate(const Place& p) const {
  if (p.epoch == 0) return p.lr * factor_;
  return p.epoch == total_iters_ ? p.lr * (1 / factor_) : p.lr;
}

double ConstantLR::first_rate(const Place& p) const {
  return p.base * (factor_ + (total_iters_ <= 0 ? 1 - factor_ : 0));
}

LinearLR::LinearLR(Optimizer& optimizer, const LinearLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* kName = "LinearLR";
  if (!is_share(options.start_factor) || options.start_factor == 0)
    fail(kName, "start_factor ", options.start_factor, " must lie in (0, 1]");
  if (!is_share(options.end_factor))
    fail(kName, "end_factor ", options.end_factor, " must lie in [0, 1]");
  check_at_least(kName, "total_iters", options.total_iters, 1);
  begin();
}

double LinearLR::rate(const Place& p) const {
  const double start = options_.start_factor, way = options_.end_factor - start;
  if (p.epoch == 0) return p.lr * start;
  if (p.epoch > options_.total_iters) return p.lr;
  // With an end_factor of 0 the last one may be rounded to a number below 0, as PyTorch's is.
  const double factor = 1 + way / (real(options_.total_iters) * start + real(p.epoch - 1) * way);
  return p.lr * std::max(factor, 0.0);
}

double LinearLR::first_rate(const Place& p) const {
  return p.base * options_.start_factor;
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, Integer total_iters, double power)
    : LRScheduler(optimizer), total_iters_(total_iters), power_(power) {
  check_at_least("PolynomialLR", "total_iters", total_iters_, 1);
  begin();
}

double PolynomialLR::rate(const Place& p) const {
  if (p.epoch == 0 || p.epoch > total_iters_) return p.lr;
  const double total = real(total_iters_);
  return p.lr * std::pow((1 - real(p.epoch) / total) / (1 - real(p.epoch - 1) / total), power_);
}

LambdaLR::LambdaLR(Optimizer& optimizer, const Factor& factor)
    : LambdaLR(optimizer, repeated(optimizer, factor)) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> factors)
    : LRScheduler(optimizer), factors_(std::move(factors)) {
  if (factors_.size() != optimizer.group_count()) {
    fail("LambdaLR", factors_.size(), " functions for ", optimizer.group_count(),
         " groups of parameters");
  }
  for (const Factor& factor : factors_) {
    if (!factor) fail("LambdaLR", "a function is empty");
  }
  begin();
}

double LambdaLR::rate(const Place& p) const {
  return p.base * factors_[p.group](p.epoch);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, Integer t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(eta_min) {
  check_at_least("CosineAnnealingLR", "T_max", t_max_, 1);
  begin();
}

double CosineAnnealingLR::rate(const Place& p) const {
  constexpr double kPi = std::numbers::pi;
  const double length = real(t_max_);
  if (p.epoch == 0) return p.lr;
  if ((p.epoch - 1 - t_max_) % (2 * t_max_) == 0) {  // the way back begins, where lr is eta_min
    if (p.is_later) return p.lr;                     // PyTorch knows no base of it
    return p.lr + (p.base - eta_min_) * (1 - std::cos(kPi / length)) / 2;
  }
  return (1 + std::cos(kPi * real(p.epoch) / length)) /
             (1 + std::cos(kPi * real(p.epoch - 1) / length)) * (p.lr - eta_min_) +
         eta_min_;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer,
                                                         const WarmRestartsOptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_at_least("CosineAnnealingWarmRestarts", "T_0", options.T_0, 1);
  check_at_least("CosineAnnealingWarmRestarts", "T_mult", options.T_mult, 1);
  begin();
}

double CosineAnnealingWarmRestarts::rate(const Place& p) const {
  std::int64_t passed = p.epoch, length = options_.T_0;
  if (options_.T_mult == 1) {
    passed %= length;
  } else {
    while (passed >= length) {
      passed -= length;
      length = length > kMost / options_.T_mult ? kMost : length * options_.T_mult;
    }
  }
  return options_.eta_min + (p.base - options_.eta_min) *
                                (1 + std::cos(std::numbers::pi * real(passed) / real(length))) / 2;
}

namespace {

// Checks the options, and returns the rates from which the groups' cycles begin.
std::vector<double> checked_first_rates(const Optimizer& optimizer,
                                        const OneCycleLROptions& options) {
  constexpr const char* kName = "OneCycleLR";
  check_at_least(kName, "total_steps", options.total_steps, 1);
  if (!is_share(options.pct_start))
    fail(kName, "pct_start ", options.pct_start, " must lie in [0, 1]");
  const std::size_t groups = optimizer.group_count();
  for (std::size_t i = 0; options.cycle_momentum && i < groups; ++i) {
    if (!optimizer.momentum(i)) fail(kName, "the optimizer has no momentum to cycle");
  }
  options.max_lr.check(kName, "max_lr", groups);
  options.base_momentum.check(kName, "base_momentum", groups);
  options.max_momentum.check(kName, "max_momentum", groups);
  std::vector<double> rates;
  rates.reserve(groups);
  for (std::size_t i = 0; i < groups; ++i) {
    const double highest = options.max_lr.of(i), first = highest / options.div_factor,
                 last = first / options.final_div_factor;
    if (!std::isfinite(highest) || !std::isfinite(first) || !std::isfinite(last)) {
      fail(kName, "group ", i, " would go from a rate of ", first, " to ", highest, " and to ",
           last);
    }
    const double low = options.base_momentum.of(i), high = options.max_momentum.of(i);
    if (options.cycle_momentum && !(std::isfinite(low) && std::isfinite(high)))
      fail(kName, "the momentum of group ", i, " would go from ", high, " to ", low);
    rates.push_back(first);
  }
  return rates;
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options)
    : LRScheduler(optimizer, checked_first_rates(optimizer, options)), options_(options) {
  begin();
}

double OneCycleLR::rate_at(Level level, std::size_t group) const {
  const double highest = options_.max_lr.of(group), first = highest / options_.div_factor;
  if (level == Level::highest) return highest;
  return level == Level::first ? first : first / options_.final_div_factor;
}

double OneCycleLR::momentum_at(Level level, std::size_t group) const {
  return (level == Level::highest ? options_.base_momentum : options_.max_momentum).of(group);
}

std::pair<OneCycleLR::Phase, double> OneCycleLR::phase_at(std::int64_t epoch) const {
  constexpr const char* kName = "OneCycleLR";
  const auto& o = options_;
  if (epoch > o.total_steps) fail(kName, "step ", epoch, " of ", o.total_steps);
  const double total = real(o.total_steps), rise = o.pct_start * total - 1;
  const Phase up{rise, Level::first, Level::highest},
      down{2 * o.pct_start * total - 2, Level::highest, Level::first},
      end{total - 1, o.three_phase ? Level::first : Level::highest, Level::last};
  double start = 0;
  Phase phase = up;
  const auto pass = [&](const Phase& next) {
    if (real(epoch) <= phase.end) return;
    start = phase.end;
    phase = next;
  };
  if (o.three_phase) pass(down);
  pass(end);
  const double length = phase.end - start;
  if (length == 0) {
    fail(kName, "step ", epoch, " lies in a phase that has no length with pct_start ", o.pct_start,
         " and total_steps ", o.total_steps);
  }
  return {phase, (real(epoch) - start) / length};
}

double OneCycleLR::annealed(double start, double end, double share) const {
  if (options_.anneal_strategy == AnnealStrategy::linear) return (end - start) * share + start;
  return end + (start - end) / 2 * (std::cos(std::numbers::pi * share) + 1);
}

double OneCycleLR::rate(const Place& p) const {
  const auto [phase, share] = phase_at(p.epoch);
  return annealed(rate_at(phase.start, p.group), rate_at(phase.target, p.group), share);
}

std::optional<double> OneCycleLR::momentum(const Place& p) const {
  if (!options_.cycle_momentum) return std::nullopt;
  const auto [phase, share] = phase_at(p.epoch);
  return annealed(momentum_at(phase.start, p.group), momentum_at(phase.target, p.group), share);
}

CosineWithWarmup::CosineWithWarmup(Optimizer& optimizer, const CosineWithWarmupOptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_at_least("CosineWithWarmup", "warmup", options.warmup, 0);
  check_at_least("CosineWithWarmup", "total", options.total, 1);
  check_at_least("CosineWithWarmup", "total - warmup", options.total - options.warmup, 1);
  begin();
}

double CosineWithWarmup::rate(const Place& p) const {
  const auto& [warmup, total, min_lr] = options_;
  if (p.epoch < warmup) return p.base * warmup_factor(p.epoch, warmup);
  if (p.epoch > total) return min_lr;
  const double share = real(p.epoch - warmup) / real(total - warmup);
  return min_lr + 0.5 * (1 + std::cos(std::numbers::pi * share)) * (p.base - min_lr);
}

InverseSquareRootLR::InverseSquareRootLR(Optimizer& optimizer, Integer warmup)
    : LRScheduler(optimizer), warmup_(warmup) {
  check_at_least("InverseSquareRootLR", "warmup", warmup_, 1);
  begin();
}

double InverseSquareRootLR::rate(const Place& p) const {
  if (p.epoch < warmup_) return p.base * warmup_factor(p.epoch, warmup_);
  return p.base * std::sqrt(real(warmup_) / real(p.epoch));
}

WSDLR::WSDLR(Optimizer& optimizer, const WSDLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* kName = "WSDLR";
  check_at_least(kName, "warmup", options.warmup, 0);
  check_at_least(kName, "decay", options.decay, 0);
  check_at_least(kName, "total", options.total, 1);
  check_at_least(kName, "total - decay", options.total - options.decay, options.warmup);
  begin();
}

double WSDLR::rate(const Place& p) const {
  const std::int64_t falls_at = options_.total - options_.decay;
  if (p.epoch < options_.warmup) return p.base * warmup_factor(p.epoch, options_.warmup);
  if (p.epoch < falls_at) return p.base;
  if (p.epoch >= options_.total) return options_.min_lr;
  const double share = real(p.epoch - falls_at) / real(options_.decay);
  const double left = options_.shape == WSDDecay::linear ? 1 - share : 1 - std::sqrt(share);
  return options_.min_lr + left * (p.base - options_.min_lr);
}

}  // namespace tend::optim
