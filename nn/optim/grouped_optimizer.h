// Optimizers that step every parameter by itself, by its gradient and a state of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/nn/optim/decay_groups.h>
#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

template <class Options>
concept HasWeightDecay = requires(Options options) {
  options.weight_decay;
};

/// Base of the optimizer `Self` with settings `Options` and, for each parameter, a `State` whose
/// `named(f)` calls f(name, Array&, kept) for each of its arrays; `kept` is true for those that
/// every parameter has after its first step. `Options::named(f)` calls f(name, setting), and
/// Self::check(options) throws an Error for settings out of range, which the constructors do, too.
/// Self::check_parameter(tensor), where there is one, throws for a parameter that is not for it.
/// The members are defined in grouped_optimizer_members.h, which the source of each optimizer
/// includes and instantiates: programs that include this header need not compile them.
template <class Self, class Opts, class State>
class GroupedOptimizer : public Optimizer {
 public:
  using Options = Opts;
  /// DecayGroups, where there is a weight_decay. (With a requires clause instead, the constructor's
  /// symbol under GCC 14 is one that older linkers cannot read.)
  using SomeGroups = std::conditional_t<HasWeightDecay<Opts>, DecayGroups, NoGroups>;

  struct Group {
    std::vector<Tensor> parameters;
    Options options;
    std::vector<State> states;
    std::optional<double> initial_lr = {};  // see Optimizer::initial_lr
  };

  /// One group. Error for a setting out of its range and for an empty list of parameters, as that
  /// of a module that registered none; otherwise as add_group().
  explicit GroupedOptimizer(const std::vector<Tensor>& parameters, const Options& options = {});
  /// A learning rate, and the other settings as they are by default. A template, so that braces are
  /// options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      GroupedOptimizer(const std::vector<Tensor>& parameters, Rate lr)
      : GroupedOptimizer(parameters, Options{.lr = static_cast<double>(lr)}) {}
  /// Two groups that differ in weight_decay: AdamW(decay_groups(model, 0.1), {.lr = 1e-3}).
  explicit GroupedOptimizer(const SomeGroups& groups, Options options = {});

  /// A copy has the parameters themselves, and a state of its own.
  GroupedOptimizer(const GroupedOptimizer& other);
  GroupedOptimizer(GroupedOptimizer&&) noexcept;
  GroupedOptimizer& operator=(const GroupedOptimizer& other);
  GroupedOptimizer& operator=(GroupedOptimizer&&) noexcept;
  ~GroupedOptimizer() override;

  /// Adds parameters with settings of their own: those that `options` leaves out are the class's
  /// defaults. To change one setting, change a copy of groups()[0].options. Error for a setting out
  /// of its range, DTypeError for a parameter that is not floating, AutogradError for one with
  /// history, Error for one that the optimizer has already.
  void add_group(const std::vector<Tensor>& parameters, const Options& options);

  /// The groups; their options may be changed between steps.
  std::vector<Group>& groups() noexcept { return groups_; }

  void zero_grad() override;

  using Optimizer::set_lr;
  std::size_t group_count() const noexcept override;
  double lr(std::size_t index) const override;
  void set_lr(std::size_t index, double lr) override;
  std::optional<double> initial_lr(std::size_t index) const override;
  void set_initial_lr(std::size_t index, double lr) override;
  std::optional<double> momentum(std::size_t index) const override;
  void set_momentum(std::size_t index, double momentum) override;

  nn::StateDict state_dict() override;
  void load_state_dict(const nn::StateDict& state) override;

 protected:
  struct Stepped;

  /// One step of every parameter with a gradient: first prepare(stepped) for each, which makes the
  /// arrays of its state; then update(stepped, begin, end) for ranges of their elements, in
  /// parallel. When something fails, nothing has changed.
  template <class Prepare, class Update>
  void step_all(const char* operation, Prepare prepare, Update update);

  /// Error where the user has put in or taken out parameters of the group.
  static void check_states(const char* operation, const Group& group);

 private:
  static std::vector<Group> copied(const std::vector<Group>& groups);

  const Group& group(const char* operation, std::size_t index) const;
  Group& group(const char* operation, std::size_t index);

  static void check_some(const std::vector<Tensor>& parameters);
  void check_new(const std::vector<Tensor>& parameters) const;

  void load(const nn::StateDict& state);
  template <class Reader>
  static void load_options(std::size_t group, std::pair<Options, std::optional<double>>& loaded,
                           Reader& reader);
  template <class Reader>
  static State loaded_state(const std::string& index, const Tensor& parameter, Reader& reader);

  template <class Update>
  static void step_run(const char* operation, std::span<Stepped> run, Update update);
  std::vector<Stepped> with_gradients(const char* operation);
  static void check_fits(const char* operation, const Tensor& parameter, State& state);
  static bool lie_apart(const std::vector<Stepped>& all);
  static std::int64_t bytes_of(const Stepped& each);

  template <class F>
  void visit(F&& f);

  static constexpr const char* kInitialRate = "initial_lr";

  std::vector<Group> groups_;
};

}  // namespace tend::optim
