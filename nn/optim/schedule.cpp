#include <tend/nn/optim/schedule.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>

namespace tend::optim {
namespace {

constexpr const char* kLoad = "LRScheduler::load_state_dict";

Tensor rates_tensor(const std::vector<double>& rates) {
  return Tensor(Array::from<double>(rates, {static_cast<std::int64_t>(rates.size())}));
}

const Tensor& entry(const nn::StateDict& state, const std::string& key, const Shape& shape,
                    DType dtype) {
  const auto found = state.find(key);
  if (found == state.end()) fail(kLoad, key, " is missing");
  const Tensor& tensor = found->second;
  if (!tensor.defined()) fail(kLoad, key, " is undefined");
  if (tensor.shape() != shape || tensor.dtype() != dtype) {
    fail(kLoad, key, " is ", tensor.shape(), ' ', tensor.dtype(), ", not ", shape, ' ', dtype);
  }
  return tensor;
}

Optimizer& optimizer_of(const std::vector<std::reference_wrapper<LRScheduler>>& schedules) {
  if (schedules.empty()) fail("ChainedScheduler", "there are no schedules");
  return schedules.front().get().optimizer();
}

std::vector<double> initial_rates(const Optimizer& optimizer) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < optimizer.group_count(); ++i)
    rates.push_back(optimizer.initial_lr(i).value_or(optimizer.lr(i)));
  return rates;
}

void check_finite(const char* what, double value, std::size_t group, std::int64_t epoch) {
  if (!std::isfinite(value))
    fail("LRScheduler", "the ", what, " of group ", group, " at epoch ", epoch, " would be ",
         value);
}

void check_optimizer(const char* operation, const Optimizer& optimizer, const LRScheduler& part) {
  if (&part.optimizer() != &optimizer) fail(operation, "the schedules are of several optimizers");
}

}  // namespace

// What load_state_dict() has read for one schedule, or what it had before a step.
struct LRScheduler::Loaded {
  LRScheduler* target;
  std::int64_t last_epoch;
  std::vector<double> base_lr, last_lr;
};

LRScheduler::LRScheduler(Optimizer& optimizer) : LRScheduler(optimizer, initial_rates(optimizer)) {}

LRScheduler::LRScheduler(Optimizer& optimizer, std::vector<double> base_lr)
    : optimizer_(&optimizer), base_lr_(std::move(base_lr)) {
  last_lr_.reserve(base_lr_.size());
  note_rates();
}

void LRScheduler::begin() {
  go_to(0, false);
  for (std::size_t i = 0; i < base_lr_.size(); ++i) optimizer_->set_initial_lr(i, base_lr_[i]);
}

void LRScheduler::note_rates() {
  last_lr_.clear();
  for (std::size_t i = 0; i < base_lr_.size(); ++i) last_lr_.push_back(optimizer_->lr(i));
}

void LRScheduler::go_to(std::int64_t epoch, bool restarts) {
  const bool has_later_groups = follows_last_rate() && !restarts;
  const std::size_t groups = has_later_groups ? optimizer_->group_count() : base_lr_.size();
  std::vector<std::pair<double, std::optional<double>>> next;
  next.reserve(groups);
  for (std::size_t i = 0; i < groups; ++i) {
    const double lr = optimizer_->lr(i);
    const bool is_later = i >= base_lr_.size();
    const Place place{i, epoch, lr, is_later ? lr : base_lr_[i], is_later};
    next.emplace_back(restarts ? first_rate(place) : rate(place), momentum(place));
    check_finite("rate", next[i].first, i, epoch);
    check_finite("momentum", next[i].second.value_or(0), i, epoch);
  }
  for (std::size_t i = 0; i < groups; ++i) {
    if (next[i].second) optimizer_->set_momentum(i, *next[i].second);
    optimizer_->set_lr(i, next[i].first);
  }
  last_epoch_ = epoch;
  note_rates();
}

void LRScheduler::step() {
  go_to(last_epoch_ + 1, false);
}

void LRScheduler::remember(std::vector<Loaded>& all) {
  all.push_back({this, last_epoch_, base_lr_, last_lr_});
  for (LRScheduler& part : parts()) part.remember(all);
}

template <class F>
void LRScheduler::step_parts(F f) {
  std::vector<Loaded> before;
  std::vector<std::pair<double, std::optional<double>>> rates;
  remember(before);
  for (std::size_t i = 0; i < optimizer_->group_count(); ++i)
    rates.emplace_back(optimizer_->lr(i), optimizer_->momentum(i));
  try {
    f();
  } catch (...) {
    for (Loaded& each : before) {
      each.target->last_epoch_ = each.last_epoch;
      each.target->last_lr_.swap(each.last_lr);
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
      optimizer_->set_lr(i, rates[i].first);
      if (rates[i].second) optimizer_->set_momentum(i, *rates[i].second);
    }
    throw;
  }
}

void LRScheduler::undo_begin() {
  last_epoch_ = -1;
  for (LRScheduler& part : parts()) part.undo_begin();
}

void LRScheduler::save(nn::StateDict& state, const std::string& prefix) const {
  state.emplace_back(prefix + "last_epoch", tensor(last_epoch_));
  state.emplace_back(prefix + "base_lrs", rates_tensor(base_lr_));
  state.emplace_back(prefix + "last_lr", rates_tensor(last_lr_));
  for (std::size_t i = 0; i < parts().size(); ++i)
    parts()[i].get().save(state, as_text(prefix, i, '.'));
}

nn::StateDict LRScheduler::state_dict() const {
  nn::StateDict state;
  save(state, "");
  return state;
}

void LRScheduler::read(const nn::StateDict& state, const std::string& prefix,
                       std::vector<Loaded>& all) {
  const auto groups = static_cast<std::int64_t>(base_lr_.size());
  const std::int64_t epoch = entry(state, prefix + "last_epoch", {}, int64).item<std::int64_t>();
  constexpr std::int64_t kMostEpochs = std::int64_t{1} << 53;  // which double can count
  if (epoch < -1 || epoch > kMostEpochs)
    fail(kLoad, prefix, "last_epoch is ", epoch, ", not the number of an epoch");
  all.push_back({this, epoch,
                 entry(state, prefix + "base_lrs", {groups}, float64).to_vector<double>(),
                 entry(state, prefix + "last_lr", {groups}, float64).to_vector<double>()});
  for (std::size_t i = 0; i < parts().size(); ++i)
    parts()[i].get().read(state, as_text(prefix, i, '.'), all);
}

void LRScheduler::load_state_dict(const nn::StateDict& state) {
  std::vector<Loaded> all;
  read(state, "", all);
  const nn::StateDict own = state_dict();
  for (const auto& [key, value] : state) {
    if (!own.contains(key)) fail(kLoad, key, " belongs to nothing");
  }
  if (state.size() != own.size()) fail(kLoad, "a key is there twice");
  for (Loaded& each : all) {
    each.target->last_epoch_ = each.last_epoch;
    each.target->base_lr_.swap(each.base_lr);
    each.target->last_lr_.swap(each.last_lr);
  }
}

SequentialLR::SequentialLR(Optimizer& optimizer, References schedules,
                           std::vector<std::int64_t> milestones)
    : LRScheduler(optimizer), schedules_(std::move(schedules)), milestones_(std::move(milestones)) {
  constexpr const char* kName = "SequentialLR";
  if (schedules_.empty()) fail(kName, "there are no schedules");
  if (milestones_.size() + 1 != schedules_.size()) {
    fail(kName, schedules_.size(), " schedules need ", schedules_.size() - 1, " milestones, got ",
         milestones_.size());
  }
  for (std::size_t i = 0; i < milestones_.size(); ++i) {
    if (milestones_[i] <= (i == 0 ? 0 : milestones_[i - 1]))
      fail(kName, "milestone ", i, " is ", milestones_[i], ", which is not after the one before");
  }
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    const LRScheduler& part = schedules_[i];
    check_optimizer(kName, optimizer, part);
    const bool is_chain = dynamic_cast<const ChainedScheduler*>(&part) != nullptr;
    if (dynamic_cast<const SequentialLR*>(&part) != nullptr || (is_chain && i > 0))
      fail(kName, "schedule ", i, " is made of others, and cannot begin anew");
  }
  step_parts([&] {
    // A group that was added after the parts were made has no initial rate, and starts from its
    // own.
    for (std::size_t i = 0; i < optimizer.group_count(); ++i)
      optimizer.set_lr(i, optimizer.initial_lr(i).value_or(optimizer.lr(i)));
    for (LRScheduler& part : schedules_) part.undo_begin();
    schedules_.front().get().step();
    begin();
  });
}

void SequentialLR::step() {
  const std::int64_t epoch = last_epoch_ + 1;
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), epoch);
  const auto index = static_cast<std::size_t>(passed - milestones_.begin());
  LRScheduler& part = schedules_[index];
  if (index > 0 && milestones_[index - 1] == epoch) {
    part.go_to(0, true);
  } else {
    part.step();
  }
  last_epoch_ = epoch;
  note_rates();
}

ChainedScheduler::ChainedScheduler(References schedules)
    : LRScheduler(optimizer_of(schedules)), schedules_(std::move(schedules)) {
  for (const LRScheduler& part : schedules_) check_optimizer("ChainedScheduler", optimizer(), part);
  begin();
}

void ChainedScheduler::step() {
  step_parts([&] {
    for (LRScheduler& part : schedules_) part.step();
  });
  ++last_epoch_;
  note_rates();
}

}  // namespace tend::optim
