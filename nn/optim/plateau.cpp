#include <tend/nn/optim/plateau.h>

#include <algorithm>
#include <limits>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>
#include <tend/nn/optim/state_reader.h>

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
          {"best", tensor(best_, float64)}};
}

void ReduceLROnPlateau::load_state_dict(const nn::StateDict& state) {
  detail::StateReader reader("ReduceLROnPlateau::load_state_dict", state);
  const std::int64_t epoch = reader.take_count("last_epoch"),
                     bad = reader.take_count("num_bad_epochs"),
                     cooldown = reader.take_count("cooldown_counter");
  const double best = reader.take_number("best");
  reader.check_all_taken();
  last_epoch_ = epoch;
  bad_epochs_ = bad;
  cooldown_ = cooldown;
  best_ = best;
}

}  // namespace tend::optim
