// The base of all schedules of learning rates, and schedules that combine others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

namespace detail {
class StateReader;
}

/// One number for all groups, such as 1e-5, or one number for each group, such as {1e-4, 1e-5}.
class PerGroup {
 public:
  PerGroup(double number) : number_(number) {}
  PerGroup(std::vector<double> numbers) noexcept : numbers_(std::move(numbers)) {}
  PerGroup(std::initializer_list<double> numbers) : numbers_(numbers) {}

  /// The number for a group.
  ///
  /// Throws: IndexError - each group has its own number, and there is no such group
  double of(std::size_t group) const;
  /// Throws an Error if there are several numbers but not one for each of `groups` groups. Its
  /// message names the operation and the setting.
  void check(const char* operation, const char* setting, std::size_t groups) const;

 private:
  double number_ = 0;
  std::optional<std::vector<double>> numbers_;
};

/// A schedule of the learning rates of an optimizer's groups, as in torch.optim.lr_scheduler.
///
/// The constructor of a schedule sets the rates of epoch 0. Each step() of the schedule sets the
/// rates of the next epoch. Call it after the optimizer's step(), at the end of each epoch. You may
/// also call it after every step of the optimizer; an epoch is then one step. The initial rates are
/// the rates that the groups had when the optimizer's first schedule was made. Only OneCycleLR has
/// its own initial rates. Unlike in PyTorch, a rate or momentum that is not finite is an Error.
///
/// A schedule refers to the optimizer, which must live as long as the schedule. Some schedules
/// compute each rate from the last one: StepLR, MultiStepLR, ExponentialLR, ConstantLR, LinearLR,
/// PolynomialLR and CosineAnnealingLR. As in PyTorch, only these schedules also change groups
/// that are added later.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;

  /// Sets the rates of the next epoch.
  ///
  /// Nothing has changed after an error, with one exception: if a schedule combines others, some of
  /// the others may have stepped.
  virtual void step();

  /// The rates that the last step set. There is one for each group that existed when the schedule
  /// was made.
  const std::vector<double>& get_last_lr() const noexcept { return last_lr_; }
  std::int64_t last_epoch() const noexcept { return last_epoch_; }
  Optimizer& optimizer() const noexcept { return *optimizer_; }

  /// The position of the schedule, not its settings: "last_epoch", "base_lrs" and "last_lr". A
  /// schedule that combines others also has "0.last_epoch" and so on. The optimizer's own
  /// state_dict() has the rates of the next step.
  nn::StateDict state_dict() const;
  /// Loads the state_dict() of a schedule with the same settings and number of groups, and
  /// continues from there.
  ///
  /// Nothing has changed after an error.
  ///
  /// Throws: Error - a key is missing, appears twice, does not fit or is unknown; the message names
  ///                 the first such key
  void load_state_dict(const nn::StateDict& state);

 protected:
  using References = std::vector<std::reference_wrapper<LRScheduler>>;

  /// The arguments of a Formula: a group, and the epoch whose rate is computed.
  struct Place {
    std::size_t group;
    std::int64_t epoch;  // the epoch of the next rate
    double lr;           // the present rate; at epoch 0 of a schedule that follows another, `base`
    double base;         // the rate at the beginning; `lr` for groups that were added later
    bool is_later;
  };
  using Formula = std::function<double(const Place&)>;

  /// How a schedule computes rates.
  struct Rule {
    /// The next rate. It is computed from the last rate if PyTorch does so, to get the same bits.
    Formula rate;
    /// True if rate() does not use the base, so that it also applies to groups that were added
    /// later.
    bool follows_last_rate = false;
    /// The momentum; empty for schedules that do not set it.
    Formula momentum = {};
  };

  explicit LRScheduler(Optimizer& optimizer, References parts = {});
  /// Starts from these rates, one for each group.
  LRScheduler(Optimizer& optimizer, std::vector<double> base_lr);
  LRScheduler(const LRScheduler&) = default;
  LRScheduler& operator=(const LRScheduler&) = default;

  /// Sets the rates of epoch 0 and each group's initial_lr. Every constructor calls begin() last.
  void begin(Rule rule);
  /// Ends a step of a schedule that combines others. The others have already set the rates.
  void end_step();

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;

  /// Sets the rates of an epoch. `restarts` is true if another schedule ran before this one.
  void go_to(std::int64_t epoch, bool restarts);
  void save_rates();
  /// Sets last_epoch() to -1, as before begin(), for a schedule that starts later.
  void undo_begin();
  void save(nn::StateDict& state, const std::string& prefix) const;
  void read(detail::StateReader& reader, const std::string& prefix, bool applies);

  Optimizer* optimizer_;
  References parts_;  // the schedules that this one combines
  Rule rule_;
  std::int64_t last_epoch_ = -1;
  std::vector<double> base_lr_;
  std::vector<double> last_lr_;
};

/// Runs schedules one after the other. At epoch milestones[i - 1], schedules[i] starts with its own
/// epoch 0.
///
///     optim::LinearLR warmup(optimizer, {.start_factor = 0.1, .total_iters = 100});
///     optim::CosineAnnealingLR cosine(optimizer, 900);
///     optim::SequentialLR schedule(optimizer, {warmup, cosine}, {100});
///
/// The schedules must live as long as the SequentialLR, which refers to them. PyTorch:
/// torch.optim.lr_scheduler.SequentialLR.
///
/// Throws:
///   Error - there are no schedules, or one has another optimizer
///   Error - the number of milestones is not the number of schedules minus 1
///   Error - the milestones are not positive and increasing
///   Error - a schedule after the first one combines others
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, References schedules, std::vector<std::int64_t> milestones);
  void step() override;

 private:
  std::vector<std::int64_t> milestones_;
};

/// Several schedules at once: each one changes the rates that the schedules before it have set
/// (torch.optim.lr_scheduler.ChainedScheduler).
///
/// Throws: Error - there are no schedules, or they have different optimizers
class ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(References schedules);
  void step() override;
};

}  // namespace tend::optim
