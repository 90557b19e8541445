#include <tend/nn/optim/schedule.h>

#include <algorithm>
#include <cmath>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>
#include <tend/nn/optim/state_reader.h>

namespace tend::optim {
namespace {

std::vector<double> initial_rates(const Optimizer& optimizer) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < optimizer.group_count(); ++i)
    rates.push_back(optimizer.initial_lr(i).value_or(optimizer.lr(i)));
  return rates;
}

void check_finite(const char* what, double value, std::size_t group, std::int64_t epoch) {
  if (!std::isfinite(value))
    fail("LRScheduler", "the ", what, " of group ", group, " at epoch ", epoch,
         " must be finite, but would be ", value);
}

Optimizer& optimizer_of(const std::vector<std::reference_wrapper<LRScheduler>>& schedules) {
  if (schedules.empty()) fail("ChainedScheduler", "there are no schedules");
  return schedules.front().get().optimizer();
}

void check_optimizer(const char* operation, const Optimizer& optimizer, const LRScheduler& part) {
  if (&part.optimizer() != &optimizer) fail(operation, "the schedules have different optimizers");
}

}  // namespace

double PerGroup::of(std::size_t group) const {
  if (!numbers_) return number_;
  if (group >= numbers_->size())
    fail<IndexError>("PerGroup", "group ", group, " is out of range for ", numbers_->size(),
                     " numbers");
  return (*numbers_)[group];
}

void PerGroup::check(const char* operation, const char* setting, std::size_t groups) const {
  if (numbers_ && numbers_->size() != groups)
    fail(operation, setting, " must be one number or one for each of the ", groups,
         " groups, but has ", numbers_->size());
}

LRScheduler::LRScheduler(Optimizer& optimizer, References parts)
    : optimizer_(&optimizer), parts_(std::move(parts)), base_lr_(initial_rates(optimizer)) {}

LRScheduler::LRScheduler(Optimizer& optimizer, std::vector<double> base_lr)
    : optimizer_(&optimizer), base_lr_(std::move(base_lr)) {}

void LRScheduler::begin(Rule rule) {
  rule_ = std::move(rule);
  go_to(0, false);
  for (std::size_t i = 0; i < base_lr_.size(); ++i) optimizer_->set_initial_lr(i, base_lr_[i]);
}

void LRScheduler::go_to(std::int64_t epoch, bool restarts) {
  const bool has_later_groups = rule_.follows_last_rate && !restarts;
  const std::size_t groups = has_later_groups ? optimizer_->group_count() : base_lr_.size();
  std::vector<double> rates, momenta;
  for (std::size_t i = 0; i < groups; ++i) {
    const double lr = optimizer_->lr(i);
    const bool is_later = i >= base_lr_.size();
    const double base = is_later ? lr : base_lr_[i];
    const Place place{i, epoch, restarts ? base : lr, base, is_later};
    rates.push_back(rule_.rate(place));
    check_finite("rate", rates[i], i, epoch);
    if (!rule_.momentum) continue;
    momenta.push_back(rule_.momentum(place));
    check_finite("momentum", momenta[i], i, epoch);
  }
  for (std::size_t i = 0; i < groups; ++i) {
    if (rule_.momentum) optimizer_->set_momentum(i, momenta[i]);
    optimizer_->set_lr(i, rates[i]);
  }
  last_epoch_ = epoch;
  save_rates();
}

void LRScheduler::step() {
  go_to(last_epoch_ + 1, false);
}

void LRScheduler::end_step() {
  ++last_epoch_;
  save_rates();
}

void LRScheduler::save_rates() {
  last_lr_.clear();
  for (std::size_t i = 0; i < base_lr_.size(); ++i) last_lr_.push_back(optimizer_->lr(i));
}

void LRScheduler::undo_begin() {
  last_epoch_ = -1;
  for (LRScheduler& part : parts_) part.undo_begin();
}

void LRScheduler::save(nn::StateDict& state, const std::string& prefix) const {
  state.emplace_back(prefix + "last_epoch", tensor(last_epoch_));
  state.emplace_back(prefix + "base_lrs", tensor(base_lr_, float64));
  state.emplace_back(prefix + "last_lr", tensor(last_lr_, float64));
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i].get().save(state, as_text(prefix, i, '.'));
}

nn::StateDict LRScheduler::state_dict() const {
  nn::StateDict state;
  save(state, "");
  return state;
}

void LRScheduler::read(detail::StateReader& reader, const std::string& prefix, bool applies) {
  const auto groups = static_cast<std::int64_t>(base_lr_.size());
  const std::int64_t epoch = reader.take_count(prefix + "last_epoch", -1);
  const Array base = reader.take(prefix + "base_lrs", {groups}, float64);
  const Array last = reader.take(prefix + "last_lr", {groups}, float64);
  if (applies) {
    last_epoch_ = epoch;
    base_lr_ = base.to_vector<double>();
    last_lr_ = last.to_vector<double>();
  }
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i].get().read(reader, as_text(prefix, i, '.'), applies);
}

void LRScheduler::load_state_dict(const nn::StateDict& state) {
  for (const bool applies : {false, true}) {  // checks, then changes
    detail::StateReader reader("LRScheduler::load_state_dict", state);
    read(reader, "", applies);
    reader.check_all_taken();
  }
}

SequentialLR::SequentialLR(Optimizer& optimizer, References schedules,
                           std::vector<std::int64_t> milestones)
    : LRScheduler(optimizer, std::move(schedules)), milestones_(std::move(milestones)) {
  constexpr const char* kName = "SequentialLR";
  if (parts_.empty()) fail(kName, "there are no schedules");
  if (milestones_.size() + 1 != parts_.size()) {
    fail(kName, parts_.size(), " schedules need ", parts_.size() - 1, " milestones, got ",
         milestones_.size());
  }
  for (std::size_t i = 0; i < milestones_.size(); ++i) {
    if (milestones_[i] <= (i == 0 ? 0 : milestones_[i - 1]))
      fail(kName, "milestones must be positive and increase, but milestone ", i, " is ",
           milestones_[i]);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const LRScheduler& part = parts_[i];
    check_optimizer(kName, optimizer, part);
    if (i > 0 && !part.parts_.empty())
      fail(kName, "schedule ", i, " combines others, so it must be the first one");
  }
  // A group that was added after the parts were made has no initial rate. It starts from its
  // present rate.
  const std::vector<double> rates = initial_rates(optimizer);
  for (std::size_t i = 0; i < rates.size(); ++i) optimizer.set_lr(i, rates[i]);
  for (LRScheduler& part : parts_) part.undo_begin();
  parts_.front().get().step();
  begin({.rate = [](const Place& p) { return p.lr; }});
}

void SequentialLR::step() {
  const std::int64_t epoch = last_epoch() + 1;
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), epoch);
  LRScheduler& part = parts_[static_cast<std::size_t>(next - milestones_.begin())];
  if (next != milestones_.begin() && *(next - 1) == epoch) {
    part.go_to(0, true);
  } else {
    part.step();
  }
  end_step();
}

ChainedScheduler::ChainedScheduler(References schedules)
    : LRScheduler(optimizer_of(schedules), schedules) {
  for (const LRScheduler& part : parts_) check_optimizer("ChainedScheduler", optimizer(), part);
  begin({.rate = [](const Place& p) { return p.lr; }});
}

void ChainedScheduler::step() {
  for (LRScheduler& part : parts_) part.step();
  end_step();
}

}  // namespace tend::optim
