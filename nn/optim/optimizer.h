// What all optimizers have in common, for schedules, trainers and checkpoints.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/function_ref.h>
#include <tend/nn/module/state_dict.h>

namespace tend::optim {

/// An optimizer over groups of parameters, each with settings of its own. A parameter without
/// gradient is skipped, so that it can be frozen.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One step along the gradients that the parameters hold. Error for settings out of range; when
  /// something fails, nothing has changed.
  void step() { make_step(); }
  /// Calls closure(), which clears the gradients, computes the loss, goes backward from it and
  /// returns it; then makes a step. Returns the loss. When the closure throws, no step is made.
  template <class Closure>
  requires std::is_invocable_r_v<Tensor, Closure&> Tensor step(Closure&& closure) {
    if (is_empty_function(closure)) fail("Optimizer::step", "the closure is empty");
    return make_step_with([&]() -> Tensor {
      const GradModeGuard mode(true);
      return closure();
    });
  }

  virtual void zero_grad() = 0;

  virtual std::size_t group_count() const noexcept = 0;
  /// The learning rate of a group. IndexError for a group that is not there, here and below.
  virtual double lr(std::size_t group) const = 0;
  /// The next step() refuses one out of range.
  virtual void set_lr(std::size_t group, double lr) = 0;
  /// Sets that of all groups.
  void set_lr(double lr) {
    for (std::size_t i = 0; i < group_count(); ++i) set_lr(i, lr);
  }
  /// The learning rate from which schedules start: the group's when the first of them was made.
  virtual std::optional<double> initial_lr(std::size_t group) const = 0;
  virtual void set_initial_lr(std::size_t group, double lr) = 0;
  /// The momentum of a group, or its first beta; nothing for an optimizer that has neither.
  virtual std::optional<double> momentum(std::size_t group) const = 0;
  /// Error for an optimizer without momentum.
  virtual void set_momentum(std::size_t group, double momentum) = 0;

  /// The state of every parameter that was stepped: "3.exp_avg" is that of the fourth, counted
  /// through all groups, and "3.step" the number of its steps. The options of each group:
  /// "group.0.lr" and so on, and "group.0.initial_lr" where a
  /// schedule has set it. Tensors such as exp_avg are those of the optimizer, which the next step
  /// changes, while numbers are copies: write it, load it or clone its tensors before that.
  virtual nn::StateDict state_dict() = 0;
  /// Loads a state_dict() of an optimizer over the same parameters, and forgets the state of those
  /// that it has no keys for. Options stay where the state has none for any group. An Error names
  /// the first key that does not fit, is missing, belongs to no parameter or group, or is there
  /// twice; nothing has changed then.
  virtual void load_state_dict(const nn::StateDict& state) = 0;

 protected:
  Optimizer() = default;
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) noexcept = default;

 private:
  virtual void make_step() = 0;
  virtual Tensor make_step_with(FunctionRef<Tensor()> closure) {
    Tensor loss = closure();
    make_step();
    return loss;
  }
};

}  // namespace tend::optim
