#include <tend/nn/optim/schedules.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <tend/core/base/error.h>

namespace tend::optim {
namespace {

// A number of epochs or steps as a double.
double real(std::int64_t count) {
  return static_cast<double>(count);
}

void check_at_least(const char* operation, const char* setting, std::int64_t value,
                    std::int64_t least) {
  if (value < least) fail(operation, setting, " must be at least ", least, ", got ", value);
}

// True for a number in [0, 1]; false for NaN.
bool is_share(double value) {
  return value >= 0 && value <= 1;
}

// Falls from 1 to -1 along half a cosine, while `share` grows from 0 to 1.
double cosine(double share) {
  return std::cos(std::numbers::pi * share);
}

// The factor of a step of a linear warm-up.
double warmup_factor(std::int64_t step, std::int64_t warmup) {
  return real(step + 1) / real(warmup + 1);
}

}  // namespace

StepLR::StepLR(Optimizer& optimizer, Integer step_size, double gamma) : LRScheduler(optimizer) {
  const std::int64_t size = step_size;
  check_at_least("StepLR", "step_size", size, 1);
  begin({.rate =
             [=](const Place& p) {
               return p.epoch == 0 || p.epoch % size != 0 ? p.lr : p.lr * gamma;
             },
         .follows_last_rate = true});
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : LRScheduler(optimizer) {
  begin({.rate =
             [=](const Place& p) {
               const auto times = std::count(milestones.begin(), milestones.end(), p.epoch);
               return times == 0 ? p.lr : p.lr * std::pow(gamma, real(times));
             },
         .follows_last_rate = true});
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer) {
  begin({.rate = [=](const Place& p) { return p.epoch == 0 ? p.lr : p.lr * gamma; },
         .follows_last_rate = true});
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, Integer total_iters)
    : LRScheduler(optimizer) {
  if (!is_share(factor) || factor == 0)
    fail("ConstantLR", "factor ", factor, " must lie in (0, 1]");
  const std::int64_t total = total_iters;
  begin({.rate =
             [=](const Place& p) {
               if (p.epoch == 0) return p.lr * factor;
               return p.epoch == total ? p.lr * (1 / factor) : p.lr;
             },
         .follows_last_rate = true});
}

LinearLR::LinearLR(Optimizer& optimizer, const LinearLROptions& options) : LRScheduler(optimizer) {
  constexpr const char* kName = "LinearLR";
  const double start = options.start_factor, end = options.end_factor, way = end - start;
  const std::int64_t total = options.total_iters;
  if (!is_share(start) || start == 0) fail(kName, "start_factor ", start, " must lie in (0, 1]");
  if (!is_share(end)) fail(kName, "end_factor ", end, " must lie in [0, 1]");
  check_at_least(kName, "total_iters", total, 1);
  begin({.rate =
             [=](const Place& p) {
               if (p.epoch == 0) return p.lr * start;
               if (p.epoch > total) return p.lr;
               const double factor = 1 + way / (real(total) * start + real(p.epoch - 1) * way);
               // If `end` is 0, rounding may make the last factor negative, as in PyTorch.
               return p.lr * std::max(factor, 0.0);
             },
         .follows_last_rate = true});
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, Integer total_iters, double power)
    : LRScheduler(optimizer) {
  check_at_least("PolynomialLR", "total_iters", total_iters, 1);
  const double total = real(total_iters);
  begin({.rate =
             [=](const Place& p) {
               const double epoch = real(p.epoch);
               if (p.epoch == 0 || epoch > total) return p.lr;
               return p.lr * std::pow((1 - epoch / total) / (1 - (epoch - 1) / total), power);
             },
         .follows_last_rate = true});
}

LambdaLR::LambdaLR(Optimizer& optimizer, const Factor& factor)
    : LambdaLR(optimizer, std::vector<Factor>(optimizer.group_count(), factor)) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> factors) : LRScheduler(optimizer) {
  if (factors.size() != optimizer.group_count())
    fail("LambdaLR", "needs one function for each of the ", optimizer.group_count(),
         " groups, got ", factors.size());
  for (const Factor& factor : factors) {
    if (!factor) fail("LambdaLR", "a function is empty");
  }
  begin({.rate = [factors = std::move(factors)](const Place& p) {
    return p.base * factors[p.group](p.epoch);
  }});
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, Integer t_max, double eta_min)
    : LRScheduler(optimizer) {
  check_at_least("CosineAnnealingLR", "T_max", t_max, 1);
  const std::int64_t length = t_max;
  const auto height = [=](std::int64_t epoch) {
    return 1 + std::cos(std::numbers::pi * real(epoch) / real(length));
  };
  begin({.rate =
             [=](const Place& p) {
               if (p.epoch == 0) return p.lr;
               if ((p.epoch - 1 - length) % (2 * length) == 0) {  // rises again from eta_min
                 if (p.is_later) return p.lr;                     // PyTorch has no base rate then
                 return p.lr +
                        (p.base - eta_min) * (1 - std::cos(std::numbers::pi / real(length))) / 2;
               }
               return height(p.epoch) / height(p.epoch - 1) * (p.lr - eta_min) + eta_min;
             },
         .follows_last_rate = true});
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer,
                                                         const WarmRestartsOptions& options)
    : LRScheduler(optimizer) {
  constexpr const char* kName = "CosineAnnealingWarmRestarts";
  check_at_least(kName, "T_0", options.T_0, 1);
  check_at_least(kName, "T_mult", options.T_mult, 1);
  begin({.rate = [o = options](const Place& p) {
    std::int64_t passed = p.epoch, length = o.T_0;
    if (o.T_mult == 1) passed %= length;
    while (passed >= length) {
      passed -= length;
      length *= o.T_mult;
    }
    const double height = 1 + std::cos(std::numbers::pi * real(passed) / real(length));
    return o.eta_min + (p.base - o.eta_min) * height / 2;
  }});
}

namespace {

// Checks the options, and returns the rates from which the groups' cycles begin.
std::vector<double> checked_first_rates(const Optimizer& optimizer, const OneCycleLROptions& o) {
  constexpr const char* kName = "OneCycleLR";
  check_at_least(kName, "total_steps", o.total_steps, 1);
  if (!is_share(o.pct_start)) fail(kName, "pct_start ", o.pct_start, " must lie in [0, 1]");
  const std::size_t groups = optimizer.group_count();
  o.max_lr.check(kName, "max_lr", groups);
  o.base_momentum.check(kName, "base_momentum", groups);
  o.max_momentum.check(kName, "max_momentum", groups);
  std::vector<double> rates;
  for (std::size_t i = 0; i < groups; ++i) {
    if (o.cycle_momentum && !optimizer.momentum(i))
      fail(kName, "the optimizer has no momentum to cycle");
    rates.push_back(o.max_lr.of(i) / o.div_factor);
  }
  return rates;
}

// The value at an epoch of a cycle, which goes from `first` to `peak`, and then to `last`. With
// three phases, the cycle returns to `first` before it goes to `last`.
double cycle(const OneCycleLROptions& o, std::int64_t epoch, double first, double peak,
             double last) {
  if (epoch > o.total_steps)
    fail("OneCycleLR", "step ", epoch, " is after the last step, ", o.total_steps);
  const double total = real(o.total_steps);
  double begin = 0, end = o.pct_start * total - 1, from = first, to = peak;
  const auto pass = [&](double next_end, double next) {  // to the next phase if this one ended
    if (real(epoch) <= end) return;
    begin = std::exchange(end, next_end);
    from = std::exchange(to, next);
  };
  if (o.three_phase) pass(2 * o.pct_start * total - 2, first);
  pass(total - 1, last);
  const double share = (real(epoch) - begin) / (end - begin);
  if (o.anneal_strategy == AnnealStrategy::linear) return (to - from) * share + from;
  return to + (from - to) / 2 * (cosine(share) + 1);
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleLROptions& options)
    : LRScheduler(optimizer, checked_first_rates(optimizer, options)) {
  Rule rule{.rate = [o = options](const Place& p) {
    const double highest = o.max_lr.of(p.group), first = highest / o.div_factor;
    return cycle(o, p.epoch, first, highest, first / o.final_div_factor);
  }};
  if (options.cycle_momentum)
    rule.momentum = [o = options](const Place& p) {
      const double low = o.base_momentum.of(p.group), high = o.max_momentum.of(p.group);
      return cycle(o, p.epoch, high, low, high);
    };
  begin(std::move(rule));
}

CosineWithWarmup::CosineWithWarmup(Optimizer& optimizer, const CosineWithWarmupOptions& options)
    : LRScheduler(optimizer) {
  check_at_least("CosineWithWarmup", "warmup", options.warmup, 0);
  check_at_least("CosineWithWarmup", "total", options.total, 1);
  check_at_least("CosineWithWarmup", "total - warmup", options.total - options.warmup, 1);
  begin({.rate = [o = options](const Place& p) {
    if (p.epoch < o.warmup) return p.base * warmup_factor(p.epoch, o.warmup);
    if (p.epoch > o.total) return o.min_lr;
    const double share = real(p.epoch - o.warmup) / real(o.total - o.warmup);
    return o.min_lr + 0.5 * (1 + cosine(share)) * (p.base - o.min_lr);
  }});
}

InverseSquareRootLR::InverseSquareRootLR(Optimizer& optimizer, Integer warmup)
    : LRScheduler(optimizer) {
  const std::int64_t steps = warmup;
  check_at_least("InverseSquareRootLR", "warmup", steps, 1);
  begin({.rate = [=](const Place& p) {
    if (p.epoch < steps) return p.base * warmup_factor(p.epoch, steps);
    return p.base * std::sqrt(real(steps) / real(p.epoch));
  }});
}

WSDLR::WSDLR(Optimizer& optimizer, const WSDLROptions& options) : LRScheduler(optimizer) {
  constexpr const char* kName = "WSDLR";
  check_at_least(kName, "warmup", options.warmup, 0);
  check_at_least(kName, "decay", options.decay, 0);
  check_at_least(kName, "total", options.total, 1);
  check_at_least(kName, "total - decay", options.total - options.decay, options.warmup);
  begin({.rate = [o = options](const Place& p) {
    const std::int64_t falls_at = o.total - o.decay;
    if (p.epoch < o.warmup) return p.base * warmup_factor(p.epoch, o.warmup);
    if (p.epoch < falls_at) return p.base;
    if (p.epoch >= o.total) return o.min_lr;
    const double share = real(p.epoch - falls_at) / real(o.decay);
    const double left = o.shape == WSDDecay::linear ? 1 - share : 1 - std::sqrt(share);
    return o.min_lr + left * (p.base - o.min_lr);
  }});
}

}  // namespace tend::optim
