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

/// A number for all groups, or one for each: 1e-5, or {1e-4, 1e-5}.
class PerGroup {
 public:
  PerGroup(double number) : number_(number) {}
  PerGroup(std::vector<double> numbers) noexcept : numbers_(std::move(numbers)) {}
  PerGroup(std::initializer_list<double> numbers) : numbers_(numbers) {}

  /// The number of a group. IndexError if each group has its own, and there is no such group.
  double of(std::size_t group) const;
  /// Error, with the operation and the name of the setting, if there is one number for each of a
  /// number of groups other than `groups`.
  void check(const char* operation, const char* setting, std::size_t groups) const;

 private:
  double number_ = 0;
  std::optional<std::vector<double>> numbers_;
};

/// A schedule of the learning rates of an optimizer's groups, as in torch.optim.lr_scheduler.
///
/// Its constructor sets the rates of epoch 0. Each step(), which comes after the optimizer's, sets
/// the rates of the next epoch, or of the next step if it is called after each step. The rates
/// start from those that the groups had when the optimizer's first schedule was made; OneCycleLR
/// has its own. A rate or momentum that would not be finite is an Error, unlike in PyTorch.
///
/// A schedule refers to the optimizer, which must live as long. As in PyTorch, groups that are
/// added later follow the schedules that compute each rate from the last one (StepLR, MultiStepLR,
/// ExponentialLR, ConstantLR, LinearLR, PolynomialLR, CosineAnnealingLR); other schedules do not
/// change them.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;

  /// Sets the rates of the next epoch. If it throws, nothing has changed, except that some parts of
  /// a schedule that is made of others may have stepped.
  virtual void step();

  /// The rates that the last step set, one for each group that there was at the beginning.
  const std::vector<double>& get_last_lr() const noexcept { return last_lr_; }
  std::int64_t last_epoch() const noexcept { return last_epoch_; }
  Optimizer& optimizer() const noexcept { return *optimizer_; }

  /// The position of the schedule, not its settings: "last_epoch", "base_lrs" and "last_lr". A
  /// schedule that is made of others also has "0.last_epoch" and so on. The optimizer's own
  /// state_dict() has the rates of the next step.
  nn::StateDict state_dict() const;
  /// Loads the state_dict() of a schedule with the same settings and number of groups, and
  /// continues from there.
  ///
  /// Throws: Error - the first key that is missing, does not fit, belongs to nothing or is there
  ///                 twice; nothing has changed then
  void load_state_dict(const nn::StateDict& state);

 protected:
  using References = std::vector<std::reference_wrapper<LRScheduler>>;

  /// A group whose next rate is computed.
  struct Place {
    std::size_t group;
    std::int64_t epoch;  // of the next rate
    double lr;           // the present rate; at epoch 0 of a schedule that follows another, `base`
    double base;         // the rate at the beginning; of groups that were added later, `lr`
    bool is_later;
  };
  using Formula = std::function<double(const Place&)>;

  /// How a schedule computes rates.
  struct Rule {
    /// The next rate. Where PyTorch computes it from the last one, this does, too, for the same
    /// bits.
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

  /// Sets the rates of epoch 0 and each group's initial_lr. Every constructor ends with it.
  void begin(Rule rule);
  /// Ends a step of a schedule that is made of others, which have set the rates.
  void end_step();

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;

  /// Sets the rates of an epoch. If it `restarts`, another schedule came before.
  void go_to(std::int64_t epoch, bool restarts);
  void save_rates();
  /// Goes back to before epoch 0, for a schedule that starts later.
  void undo_begin();
  void save(nn::StateDict& state, const std::string& prefix) const;
  void read(detail::StateReader& reader, const std::string& prefix, bool applies);

  Optimizer* optimizer_;
  References parts_;  // the schedules of which this one is made
  Rule rule_;
  std::int64_t last_epoch_ = -1;
  std::vector<double> base_lr_;
  std::vector<double> last_lr_;
};

/// One schedule after the other: schedules[i] begins anew at epoch milestones[i - 1].
///
///     optim::LinearLR warmup(optimizer, {.start_factor = 0.1, .total_iters = 100});
///     optim::CosineAnnealingLR cosine(optimizer, 900);
///     optim::SequentialLR schedule(optimizer, {warmup, cosine}, {100});
///
/// It refers to the schedules, which must live as long. torch.optim.lr_scheduler.SequentialLR
///
/// Throws: Error - the schedules are not all of this optimizer
///               - the milestones are not one fewer, or do not increase
///               - a schedule after the first is itself made of others
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, References schedules, std::vector<std::int64_t> milestones);
  void step() override;

 private:
  std::vector<std::int64_t> milestones_;
};

/// Several schedules at once: each changes the rates that those before it have set.
/// torch.optim.lr_scheduler.ChainedScheduler
///
/// Throws: Error - there are no schedules, or they are of several optimizers
class ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(References schedules);
  void step() override;
};

}  // namespace tend::optim
