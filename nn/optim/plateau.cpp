#include <tend/nn/optim/plateau.h>

#include <algorithm>
#include <limits>
#include <string>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>
#include <tend/nn/optim/option_tensors.h>

namespace tend::optim {
namespace {

constexpr const char* kPlateau = "ReduceLROnPlateau";

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options)
    : optimizer_(&optimizer),
      options_(options),
      best_(options.mode == PlateauMode::min ? std::numeric_limits<double>::infinity()
                                             : -std::numeric_limits<double>::infinity()) {
  if (!(options.factor > 0 && options.factor < 1))
    fail(kPlateau, "factor ", options.factor, " must lie in (0, 1)");
  if (options.patience < 0) fail(kPlateau, "patience must be at least 0, got ", options.patience);
  if (options.cooldown < 0) fail(kPlateau, "cooldown must be at least 0, got ", options.cooldown);
  options.min_lr.check(kPlateau, "min_lr", optimizer.group_count());
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const double threshold = options_.threshold;
  if (options_.mode == PlateauMode::min) {
    return options_.threshold_mode == ThresholdMode::rel ? metric < best_ * (1 - threshold)
                                                         : metric < best_ - threshold;
  }
  return options_.threshold_mode == ThresholdMode::rel ? metric > best_ * (threshold + 1)
                                                       : metric > best_ + threshold;
}

void ReduceLROnPlateau::step(double metric) {
  options_.min_lr.check(kPlateau, "min_lr", optimizer_->group_count());
  ++last_epoch_;
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_ > 0) {
    --cooldown_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= options_.patience) return;
  for (std::size_t i = 0; i < optimizer_->group_count(); ++i) {
    const double lr = optimizer_->lr(i);
    const double reduced = std::max(lr * options_.factor, options_.min_lr.of(i));
    if (lr - reduced > options_.eps) optimizer_->set_lr(i, reduced);
  }
  cooldown_ = options_.cooldown;
  bad_epochs_ = 0;
}

std::vector<double> ReduceLROnPlateau::get_last_lr() const {
  std::vector<double> rates;
  for (std::size_t i = 0; i < optimizer_->group_count(); ++i) rates.push_back(optimizer_->lr(i));
  return rates;
}

nn::StateDict ReduceLROnPlateau::state_dict() const {
  return {{"last_epoch", tensor(last_epoch_)},
          {"num_bad_epochs", tensor(bad_epochs_)},
          {"cooldown_counter", tensor(cooldown_)},
          {"best", detail::option_tensor(best_)}};
}

void ReduceLROnPlateau::load_state_dict(const nn::StateDict& state) {
  constexpr const char* kLoad = "ReduceLROnPlateau::load_state_dict";
  const auto entry = [&](const char* name) -> const Tensor& {
    const auto found = state.find(name);
    if (found == state.end()) fail(kLoad, name, " is missing");
    if (!found->second.defined()) fail(kLoad, name, " is undefined");
    return found->second;
  };
  const auto count = [&](const char* name) {
    const Tensor& tensor = entry(name);
    if (tensor.dim() != 0 || tensor.dtype() != int64)
      fail(kLoad, name, " is ", tensor.shape(), ' ', tensor.dtype(), ", not () int64");
    const auto value = tensor.item<std::int64_t>();
    constexpr std::int64_t kMost = std::int64_t{1} << 53;  // which double can count
    if (value < 0 || value > kMost) fail(kLoad, name, " is ", value, ", not a number of epochs");
    return value;
  };
  const std::int64_t epoch = count("last_epoch"), bad = count("num_bad_epochs"),
                     cooldown = count("cooldown_counter");
  double best = 0;
  detail::set_option(best, "best", entry("best"));
  if (state.size() != 4) fail(kLoad, "the state has keys that are no part of it");
  last_epoch_ = epoch;
  bad_epochs_ = bad;
  cooldown_ = cooldown;
  best_ = best;
}

}  // namespace tend::optim
