// What all schedules of learning rates have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// A schedule of the learning rates of an optimizer's groups, as torch.optim.lr_scheduler has them.
/// Its construction sets the rates of epoch 0, and each step(), which comes after the optimizer's,
/// those of the next epoch (or of the next step, where it is called after each). The rates start
/// from those that the groups had when the optimizer's first schedule was made; OneCycleLR has its
/// own. A rate or momentum that would not be finite is an Error, unlike in PyTorch.
///
/// Schedules refer to the optimizer, which must live as long. As in PyTorch, groups that are added
/// later follow the schedules that make each rate from the last one (StepLR, MultiStepLR,
/// ExponentialLR, ConstantLR, LinearLR, PolynomialLR, CosineAnnealingLR); others leave them alone.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;

  /// When it throws, nothing has changed.
  virtual void step();

  /// The rates that the last step set, one for each group that there was at the beginning.
  const std::vector<double>& get_last_lr() const noexcept { return last_lr_; }
  std::int64_t last_epoch() const noexcept { return last_epoch_; }
  Optimizer& optimizer() const noexcept { return *optimizer_; }

  /// Where the schedule stands, not its settings: "last_epoch", "base_lrs" and "last_lr"; for
  /// schedules made of others also "0.last_epoch" and so on. The optimizer's own state_dict() has
  /// the rates of the next step.
  nn::StateDict state_dict() const;
  /// Loads the state_dict() of a schedule with the same settings over as many groups, and goes on
  /// from there. An Error names the first key that is missing, does not fit or belongs to nothing;
  /// nothing has changed then.
  void load_state_dict(const nn::StateDict& state);

 protected:
  using References = std::vector<std::reference_wrapper<LRScheduler>>;
  using Parts = std::span<const References::value_type>;

  /// A group whose next rate is asked for.
  struct Place {
    std::size_t group;
    std::int64_t epoch;  // of the next rate
    double lr;           // as it is now
    double base;         // the rate at the beginning; of groups that were added later, `lr`
    bool is_later;
  };

  explicit LRScheduler(Optimizer& optimizer);
  /// Starts from these rates, one for each group.
  LRScheduler(Optimizer& optimizer, std::vector<double> base_lr);
  LRScheduler(const LRScheduler&) = default;
  LRScheduler& operator=(const LRScheduler&) = default;

  /// Sets the rates of epoch 0, and each group's initial_lr; the end of each constructor.
  void begin();
  /// Notes the rates that the groups have.
  void note_rates();
  std::int64_t last_epoch_ = -1;

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;
  struct Loaded;

  /// The rate of a group. PyTorch computes it from the last one, so it has PyTorch's last bits.
  virtual double rate(const Place& place) const = 0;
  /// The rate at epoch 0 whatever was before.
  virtual double first_rate(const Place& place) const {
    return follows_last_rate() ? place.base : rate(place);
  }
  /// Whether rate() does without the base, so that it goes for groups that were added later, too.
  virtual bool follows_last_rate() const noexcept { return false; }
  /// The momentum of a group, for schedules that set it.
  virtual std::optional<double> momentum(const Place& /*place*/) const { return std::nullopt; }
  /// The schedules of which this one is made.
  virtual Parts parts() const noexcept { return {}; }

  /// Sets the rates of an epoch; at epoch 0 those of first_rate() when it restarts.
  void go_to(std::int64_t epoch, bool restarts);
  /// Calls f, which steps the parts. When it throws, they and the optimizer's rates are as before.
  template <class F>
  void step_parts(F f);
  void remember(std::vector<Loaded>& all);
  /// Forgets the construction's begin(), for a schedule that starts later.
  void undo_begin();
  void save(nn::StateDict& state, const std::string& prefix) const;
  void read(const nn::StateDict& state, const std::string& prefix, std::vector<Loaded>& all);

  Optimizer* optimizer_;
  std::vector<double> base_lr_;
  std::vector<double> last_lr_;
};

/// One schedule after the other: schedules[i] begins anew at epoch milestones[i - 1].
///
///     optim::LinearLR warmup(optimizer, {.start_factor = 0.1, .total_iters = 100});
///     optim::CosineAnnealingLR cosine(optimizer, 900);
///     optim::SequentialLR schedule(optimizer, {warmup, cosine}, {100});
///
/// The schedules are referred to, and must live as long. Error unless they are of this optimizer,
/// the milestones are one fewer and increase, and no schedule but the first is a ChainedScheduler,
/// none a SequentialLR. torch.optim.lr_scheduler.SequentialLR
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, References schedules, std::vector<std::int64_t> milestones);
  void step() override;

 private:
  double rate(const Place& place) const override { return place.lr; }
  Parts parts() const noexcept override { return schedules_; }

  References schedules_;
  std::vector<std::int64_t> milestones_;
};

/// Several schedules at once: each changes the rates that those before it have set. Error for no
/// schedules, and for those of several optimizers. torch.optim.lr_scheduler.ChainedScheduler
class ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(References schedules);
  void step() override;

 private:
  double rate(const Place& place) const override { return place.lr; }
  Parts parts() const noexcept override { return schedules_; }

  References schedules_;
};

}  // namespace tend::optim
