// The base of all optimizers: groups of parameters, their states, and the step over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/function_ref.h>
#include <tend/core/base/strict.h>
#include <tend/nn/module/state_dict.h>
#include <tend/nn/optim/decay_groups.h>

namespace tend::optim {

/// The state that an optimizer saves for one parameter.
struct ParameterState {
  std::int64_t step = 0;                ///< The number of steps so far.
  std::map<std::string, Array> arrays;  ///< For example "exp_avg". Each has the parameter's shape.
};

/// A group of parameters. A derived class adds the options, since their type depends on the
/// optimizer.
struct ParameterGroup {
  std::vector<Tensor> parameters;
  std::optional<double> initial_lr;    ///< See Optimizer::initial_lr().
  std::vector<ParameterState> states;  ///< One for each parameter.
};

/// Steps a range of a parameter's elements, numbered in row-major order.
using Update = std::function<void(std::int64_t begin, std::int64_t end)>;

/// A parameter in a step. The arrays are row-major and have the same dtype.
struct ParameterStep {
  std::size_t group;
  const Tensor& parameter;
  Array values, gradient;
  ParameterState& state;       // its `step` is the number of this step
  Update update = {};          // made by Optimizer::prepare
  std::int64_t end_index = 0;  // the end of its elements, counted through all parameters

  /// Returns the array of the state with this name. If it is missing, makes one filled with
  /// `start`.
  const Array& array(const char* name, double start = 0) const;
};

/// The name of an array in a ParameterState.
struct StateName {
  const char* name;
  bool always;  ///< True if every parameter has the array after the parameter's first step.
};

/// A pointer to an option. These are all the types that options have.
using OptionPointer = std::variant<double*, std::int64_t*, std::optional<std::int64_t>*,
                                   std::pair<double, double>*, Flag*>;
using OptionVisitor = FunctionRef<void(const char* name, OptionPointer option)>;

/// An optimizer over groups of parameters, each with its own options.
///
/// step() skips parameters without a gradient, so parameters can be frozen. Parameters must not
/// share elements with each other, nor with another parameter's gradient. An optimizer can be moved
/// but not copied.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Makes one step along the gradients of the parameters. It checks everything before it changes
  /// anything.
  ///
  /// Throws:
  ///   Error      - an option is out of range
  ///   ShapeError - a gradient or the state no longer has the parameter's shape
  ///   ShapeError - two indices of a parameter share an element
  ///   DTypeError - a gradient no longer has the parameter's dtype
  void step() { make_step(); }
  /// Calls closure(), then makes a step, and returns the loss.
  ///
  /// The closure must clear the gradients, compute the loss, call its backward() and return it. If
  /// the closure throws, no step is made.
  template <class Closure>
  requires std::is_invocable_r_v<Tensor, Closure&> Tensor step(Closure&& closure) {
    if (is_empty_function(closure)) fail("Optimizer::step", "the closure is empty");
    return make_step_with([&]() -> Tensor {
      const GradModeGuard mode(true);
      return closure();
    });
  }

  void zero_grad();

  virtual std::size_t group_count() const noexcept = 0;
  /// The learning rate of a group. This function and the following ones throw an IndexError if
  /// there is no such group.
  double lr(std::size_t group) const;
  /// Sets the learning rate of a group. The next step() throws if the rate is out of range.
  void set_lr(std::size_t group, double lr);
  /// Sets the learning rate of all groups.
  void set_lr(double lr) {
    for (std::size_t i = 0; i < group_count(); ++i) set_lr(i, lr);
  }
  /// The learning rate from which schedules start. It is the rate that the group had when its first
  /// schedule was made.
  std::optional<double> initial_lr(std::size_t group) const;
  void set_initial_lr(std::size_t group, double lr);
  /// The momentum of a group, or its first beta. Returns nullopt if the optimizer has neither.
  std::optional<double> momentum(std::size_t group) const;
  /// Sets the momentum of a group, or its first beta.
  ///
  /// Throws:
  ///   IndexError - there is no such group
  ///   Error      - the optimizer has no momentum and no betas
  void set_momentum(std::size_t group, double momentum);

  /// The states of all parameters that were stepped, and the options of all groups.
  ///
  /// The fourth parameter, counted through all groups, has keys such as "3.exp_avg", and "3.step"
  /// for the number of its steps. Options have keys such as "group.0.lr". If a schedule has set the
  /// initial rate, there is also "group.0.initial_lr". Tensors such as exp_avg are the optimizer's
  /// own, so the next step changes them. Numbers are copies.
  virtual nn::StateDict state_dict();
  /// Loads a state_dict() of an optimizer over the same parameters.
  ///
  /// Parameters without keys in the state lose their states. If the state has no options, the
  /// options do not change. Nothing has changed after an error.
  ///
  /// Throws: Error - a key is missing, appears twice, does not fit, or belongs to no parameter or
  ///                 group; the message names the first such key
  virtual void load_state_dict(const nn::StateDict& state);

 protected:
  Optimizer() = default;
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(Optimizer&&) noexcept = default;

  /// Checks that the parameters can be added.
  ///
  /// Throws:
  ///   DTypeError    - a parameter is not floating
  ///   AutogradError - a parameter has a history
  ///   Error         - the optimizer has a parameter already
  void check_new(const std::vector<Tensor>& parameters);
  /// Returns a group. Throws an Error if the user has changed its number of parameters.
  ParameterGroup& checked_group(std::size_t group);

  virtual void make_step();
  virtual Tensor make_step_with(FunctionRef<Tensor()> closure) {
    Tensor loss = closure();
    make_step();
    return loss;
  }

 private:
  virtual const char* step_name() const = 0;  // for errors and profiles, such as "AdamW.step"
  virtual ParameterGroup& group_at(std::size_t group) = 0;
  /// Throws an Error if the optimizer cannot use an option or a parameter.
  virtual void check_group(std::size_t group) const = 0;
  virtual void visit_options(std::size_t group, OptionVisitor f) = 0;
  virtual std::vector<StateName> state_names() const = 0;
  virtual Update prepare(const ParameterStep& step) const = 0;

  /// The group's option with this name and type, or null.
  template <class T>
  T* option(const char* operation, std::size_t group, std::string_view name) const;
  double* momentum_of(const char* operation, std::size_t group) const;
  ParameterGroup& existing_group(const char* operation, std::size_t group) const;
  std::vector<ParameterStep> checked_steps();
  void read_state(const nn::StateDict& state, bool applies);

  template <class F>
  void for_each_parameter(F&& f);
};

/// Base of the optimizer `Self` with options `Opts`.
///
/// `Opts` has named(OptionVisitor), which calls the visitor for each option. `Self` has
/// - kName;
/// - check(options), which throws an Error if an option is out of its range;
/// - optionally check_parameter(tensor), which throws if the optimizer cannot step the parameter;
/// - state_names() and update().
template <class Self, class Opts>
class GroupedOptimizer : public Optimizer {
 public:
  using Options = Opts;
  struct Group : ParameterGroup {
    Options options;
  };

  /// An optimizer with one group of parameters. The constructor also throws the errors of
  /// add_group().
  ///
  /// Throws: Error - the list of parameters is empty, for example because the module registered no
  ///                 parameter
  explicit GroupedOptimizer(const std::vector<Tensor>& parameters, const Options& options = {}) {
    if (parameters.empty()) fail(Self::kName, "optimizer got an empty parameter list");
    add_group(parameters, options);
  }
  /// An optimizer with one group, a learning rate, and the defaults of the other options. The
  /// constructor is a template so that an argument in braces is never read as a rate.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      GroupedOptimizer(const std::vector<Tensor>& parameters, Rate lr)
      : GroupedOptimizer(parameters, Options{.lr = static_cast<double>(lr)}) {}
  /// An optimizer with two groups that differ in weight_decay: AdamW(decay_groups(model, 0.1),
  /// {.lr = 1e-3}).
  explicit GroupedOptimizer(const DecayGroups& groups, Options options = {}) {
    if (groups.decayed().empty() && groups.others().empty())
      fail(Self::kName, "optimizer got an empty parameter list");
    options.weight_decay = groups.weight_decay();
    add_group(groups.decayed(), options);
    options.weight_decay = 0;
    add_group(groups.others(), options);
  }

  /// Adds a group of parameters with its own options.
  ///
  /// Options that are left out have their defaults, not the values of other groups. To change only
  /// one option, pass a changed copy of groups()[0].options.
  ///
  /// Throws:
  ///   Error         - an option is out of its range
  ///   Error         - the optimizer has a parameter already
  ///   DTypeError    - a parameter is not floating
  ///   AutogradError - a parameter has a history
  void add_group(const std::vector<Tensor>& parameters, const Options& options) {
    Self::check(options);
    for (const Tensor& parameter : parameters) Self::check_parameter(parameter);
    check_new(parameters);
    groups_.push_back({{parameters, {}, std::vector<ParameterState>(parameters.size())}, options});
  }

  /// The groups. Their options may be changed between steps, but not their parameters.
  std::vector<Group>& groups() noexcept { return groups_; }

  std::size_t group_count() const noexcept override { return groups_.size(); }

  static void check_parameter(const Tensor& /*parameter*/) {}

 protected:
  const char* step_name() const override {
    static const std::string name = std::string(Self::kName) + ".step";
    return name.c_str();
  }

 private:
  /// Returns the function that steps a parameter. Makes the arrays of the state that are missing.
  virtual Update update(const ParameterStep& step, const Options& options) const = 0;

  ParameterGroup& group_at(std::size_t group) override { return groups_[group]; }
  void check_group(std::size_t group) const override {
    Self::check(groups_[group].options);
    for (const Tensor& each : groups_[group].parameters) Self::check_parameter(each);
  }
  void visit_options(std::size_t group, OptionVisitor f) override {
    groups_[group].options.named(f);
  }
  Update prepare(const ParameterStep& step) const override {
    return update(step, groups_[step.group].options);
  }

  std::vector<Group> groups_;
};

namespace detail {
/// Throws an Error if the option is negative or NaN.
void check_from_zero(const char* operation, const char* option, double value);
/// Throws an Error if a beta is not in [0, 1).
void check_betas(const char* operation, const std::pair<double, double>& betas);
}  // namespace detail

}  // namespace tend::optim
