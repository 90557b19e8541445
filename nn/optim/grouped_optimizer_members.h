// The members of GroupedOptimizer, for the source of each optimizer.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/graph/timeline.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/optim/grouped_optimizer.h>
#include <tend/nn/optim/option_tensors.h>
#include <tend/nn/optim/state_reader.h>

namespace tend::optim {

namespace detail {
/// Error for a setting that is negative or NaN.
inline void check_from_zero(const char* operation, const char* setting, double value) {
  if (!(value >= 0)) fail(operation, setting, " is ", value, ", not a number from 0 on");
}
/// Error for a beta outside of [0, 1).
inline void check_betas(const char* operation, const std::pair<double, double>& betas) {
  const auto [beta1, beta2] = betas;
  if (!(beta1 >= 0 && beta1 < 1) || !(beta2 >= 0 && beta2 < 1)) {
    fail(operation, "betas (", beta1, ", ", beta2, ") must lie in [0, 1)");
  }
}
}  // namespace detail

template <class Self, class Opts, class State>
GroupedOptimizer<Self, Opts, State>::GroupedOptimizer(const std::vector<Tensor>& parameters,
                                                      const Options& options) {
  check_some(parameters);
  add_group(parameters, options);
}

template <class Self, class Opts, class State>
GroupedOptimizer<Self, Opts, State>::GroupedOptimizer(const SomeGroups& groups, Options options) {
  if constexpr (HasWeightDecay<Opts>) {
    check_some(groups.decayed().empty() ? groups.others() : groups.decayed());
    options.weight_decay = groups.weight_decay();
    add_group(groups.decayed(), options);
    options.weight_decay = 0;
    add_group(groups.others(), options);
  }
}

template <class Self, class Opts, class State>
GroupedOptimizer<Self, Opts, State>::GroupedOptimizer(const GroupedOptimizer& other)
    : Optimizer(other), groups_(copied(other.groups_)) {}

template <class Self, class Opts, class State>
auto GroupedOptimizer<Self, Opts, State>::operator=(const GroupedOptimizer& other)
    -> GroupedOptimizer& {
  groups_ = copied(other.groups_);
  return *this;
}

template <class Self, class Opts, class State>
GroupedOptimizer<Self, Opts, State>::GroupedOptimizer(GroupedOptimizer&&) noexcept = default;

template <class Self, class Opts, class State>
auto GroupedOptimizer<Self, Opts, State>::operator=(GroupedOptimizer&& other) noexcept
    -> GroupedOptimizer& {
  if (&other != this) groups_ = std::move(other.groups_);
  return *this;
}

template <class Self, class Opts, class State>
GroupedOptimizer<Self, Opts, State>::~GroupedOptimizer() = default;

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::add_group(const std::vector<Tensor>& parameters,
                                                    const Options& options) {
  Self::check(options);
  check_new(parameters);
  groups_.push_back({parameters, options, std::vector<State>(parameters.size()), {}});
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::zero_grad() {
  for (Group& group : groups_) {
    for (Tensor& parameter : group.parameters) parameter.zero_grad();
  }
}

template <class Self, class Opts, class State>
std::size_t GroupedOptimizer<Self, Opts, State>::group_count() const noexcept {
  return groups_.size();
}

template <class Self, class Opts, class State>
double GroupedOptimizer<Self, Opts, State>::lr(std::size_t index) const {
  return group("lr", index).options.lr;
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::set_lr(std::size_t index, double lr) {
  group("set_lr", index).options.lr = lr;
}

template <class Self, class Opts, class State>
std::optional<double> GroupedOptimizer<Self, Opts, State>::initial_lr(std::size_t index) const {
  return group("initial_lr", index).initial_lr;
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::set_initial_lr(std::size_t index, double lr) {
  group("set_initial_lr", index).initial_lr = lr;
}

template <class Self, class Opts, class State>
std::optional<double> GroupedOptimizer<Self, Opts, State>::momentum(std::size_t index) const {
  const Options& o = group("momentum", index).options;
  if constexpr (requires { o.betas; }) {
    return o.betas.first;
  } else if constexpr (requires { o.momentum; }) {
    return o.momentum;
  } else {
    return std::nullopt;
  }
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::set_momentum(std::size_t index,
                                                       [[maybe_unused]] double momentum) {
  Options& o = group("set_momentum", index).options;
  if constexpr (requires { o.betas; }) {
    o.betas.first = momentum;
  } else if constexpr (requires { o.momentum; }) {
    o.momentum = momentum;
  } else {
    fail("set_momentum", "this optimizer has no momentum");
  }
}

template <class Self, class Opts, class State>
nn::StateDict GroupedOptimizer<Self, Opts, State>::state_dict() {
  nn::StateDict state;
  visit([&](const std::string& index, const Tensor&, State& each) {
    if (each.step == 0) return;
    state.emplace_back(index + ".step", tensor(each.step));
    each.named([&](const char* name, Array& array, bool) {
      if (array.defined()) state.emplace_back(as_text(index, '.', name), Tensor(array));
    });
  });
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].options.named([&](const char* name, const auto& setting) {
      state.emplace_back(detail::option_key(i, name), detail::option_tensor(setting));
    });
    if (const std::optional<double> initial = groups_[i].initial_lr)
      state.emplace_back(detail::option_key(i, kInitialRate), detail::option_tensor(*initial));
  }
  return state;
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::load_state_dict(const nn::StateDict& state) {
  load(state);
}

/// A parameter in a step; both arrays are row-major and of one dtype.
template <class Self, class Opts, class State>
struct GroupedOptimizer<Self, Opts, State>::Stepped {
  const Tensor* parameter;
  Array values, gradient;
  const Options* options;
  State* target;
  State state;  // the new value of `target`, its `step` counted up; once swapped, the old one
  std::int64_t end = 0;  // of its elements, counted through all parameters of a run
};

// Of the gradient, and of the parameter and its state before and after the step.
template <class Self, class Opts, class State>
std::int64_t GroupedOptimizer<Self, Opts, State>::bytes_of(const Stepped& each) {
  std::int64_t arrays = 3;
  each.target->named([&](const char*, const Array& array, bool) {
    if (array.defined()) arrays += 2;
  });
  return arrays * each.values.numel() * item_size(each.values.dtype());
}

template <class Self, class Opts, class State>
template <class Prepare, class Update>
void GroupedOptimizer<Self, Opts, State>::step_all(const char* operation, Prepare prepare,
                                                   Update update) {
  autograd::ProfiledPart part(operation);
  for (const Group& group : groups_) Self::check(group.options);
  std::vector<Stepped> all;
  bool apart = true;
  all = with_gradients(operation);
  for (Stepped& each : all) {
    ++each.state.step;
    prepare(each);
  }
  apart = lie_apart(all);
  // From here on nothing needs memory.
  for (Stepped& each : all) {
    std::swap(*each.target, each.state);
    part.add_bytes(bytes_of(each));
  }
  if (apart) {
    step_run(operation, all, update);
  } else {
    for (Stepped& each : all) {
      const Array& array = each.parameter->array();
      if (!array.is_contiguous()) each.values.copy_from(array);
      step_run(operation, {&each, 1}, update);
    }
  }
}

template <class Self, class Opts, class State>
auto GroupedOptimizer<Self, Opts, State>::copied(const std::vector<Group>& groups)
    -> std::vector<Group> {
  std::vector<Group> copies = groups;
  for (Group& group : copies) {
    for (State& state : group.states) {
      state.named([](const char*, Array& array, bool) {
        if (array.defined()) array = array.clone();
      });
    }
  }
  return copies;
}

template <class Self, class Opts, class State>
auto GroupedOptimizer<Self, Opts, State>::group(const char* operation, std::size_t index) const
    -> const Group& {
  if (index >= groups_.size()) fail<IndexError>(operation, "group ", index, " of ", groups_.size());
  return groups_[index];
}

template <class Self, class Opts, class State>
auto GroupedOptimizer<Self, Opts, State>::group(const char* operation, std::size_t index)
    -> Group& {
  return const_cast<Group&>(std::as_const(*this).group(operation, index));
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::check_some(const std::vector<Tensor>& parameters) {
  if (parameters.empty()) fail(Self::kName, "optimizer got an empty parameter list");
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::check_new(const std::vector<Tensor>& parameters) const {
  std::set<const TensorImpl*> known;
  for (const Group& group : groups_) {
    for (const Tensor& parameter : group.parameters) known.insert(parameter.impl().get());
  }
  for (const Tensor& parameter : parameters) {
    if (!is_floating(parameter.dtype()))
      fail<DTypeError>("Optimizer", "a parameter is ", parameter.dtype());
    if (!parameter.is_leaf()) {
      fail<AutogradError>("Optimizer", "a parameter of shape ", parameter.shape(),
                          " has history; only leaves are stepped");
    }
    if constexpr (requires { Self::check_parameter(parameter); }) Self::check_parameter(parameter);
    if (!known.insert(parameter.impl().get()).second) {
      fail("Optimizer", "a parameter of shape ", parameter.shape(),
           " is given twice; each is stepped once");
    }
  }
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::load(const nn::StateDict& state) {
  detail::StateReader reader("load_state_dict", state);
  std::vector<std::pair<State*, State>> loaded;
  visit([&](const std::string& index, const Tensor& parameter, State& each) {
    loaded.emplace_back(&each, loaded_state(index, parameter, reader));
  });
  const bool has_options = std::any_of(
      state.begin(), state.end(), [](const auto& entry) { return detail::is_option(entry.first); });
  std::vector<std::pair<Options, std::optional<double>>> options;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    options.emplace_back(groups_[i].options, groups_[i].initial_lr);
    if (has_options) load_options(i, options.back(), reader);
  }
  if (const auto key = reader.left()) {
    fail("load_state_dict", *key,
         detail::is_option(*key) ? " belongs to no group" : " belongs to no parameter");
  }
  for (auto& [target, fresh] : loaded) *target = std::move(fresh);
  for (std::size_t i = 0; i < groups_.size(); ++i)
    std::tie(groups_[i].options, groups_[i].initial_lr) = options[i];
}

template <class Self, class Opts, class State>
template <class Reader>
void GroupedOptimizer<Self, Opts, State>::load_options(
    std::size_t group, std::pair<Options, std::optional<double>>& loaded, Reader& reader) {
  const auto load = [&](const char* name, auto& setting, bool wanted) {
    const std::string key = detail::option_key(group, name);
    if (!wanted && !reader.has(key)) return false;
    detail::set_option(setting, key, reader.take(key));
    return true;
  };
  loaded.first.named([&](const char* name, auto& setting) { load(name, setting, true); });
  // Rate and momentum may be what no step takes, as those behind the last step of a OneCycleLR.
  Options fixed = loaded.first;
  fixed.lr = 1;
  if constexpr (requires { fixed.betas; }) fixed.betas.first = 0.5;
  if constexpr (requires { fixed.momentum; }) fixed.momentum = 0.5;
  try {
    Self::check(fixed);
  } catch (const Error& error) {
    fail("load_state_dict", "group.", group, ": ", error.what());
  }
  double initial = 0;
  const bool has_initial = load(kInitialRate, initial, false);
  loaded.second = has_initial ? std::optional(initial) : std::nullopt;
}

template <class Self, class Opts, class State>
template <class Reader>
State GroupedOptimizer<Self, Opts, State>::loaded_state(const std::string& index,
                                                        const Tensor& parameter, Reader& reader) {
  State state;
  const std::string step = index + ".step";
  if (!reader.has(step)) return state;
  state.step = reader.take_count(step);
  if (state.step < 1)
    fail("load_state_dict", step, " is ", state.step, ", not the number of a step");
  state.named([&](const char* name, Array& target, bool kept) {
    const std::string key = as_text(index, '.', name);
    if (kept || reader.has(key)) target = reader.take(key, parameter.shape(), parameter.dtype());
  });
  return state;
}

template <class Self, class Opts, class State>
template <class Update>
void GroupedOptimizer<Self, Opts, State>::step_run(const char* operation, std::span<Stepped> run,
                                                   Update update) {
  std::int64_t total = 0;
  for (Stepped& each : run) each.end = total += each.values.numel();
  constexpr std::int64_t kGrain = 16384;
  parallel_for(0, total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    auto each = std::upper_bound(run.begin(), run.end(), begin,
                                 [](std::int64_t at, const Stepped& s) { return at < s.end; });
    for (; begin < end; ++each) {
      const std::int64_t start = each->end - each->values.numel();
      const std::int64_t stop = std::min(end, each->end);
      update(*each, begin - start, stop - start);
      begin = stop;
    }
  });
  for (const Stepped& each : run) {
    const Array& array = each.parameter->array();
    if (!array.is_contiguous()) array.copy_from(each.values);
    array.storage()->bump_version(operation);
  }
}

template <class Self, class Opts, class State>
auto GroupedOptimizer<Self, Opts, State>::with_gradients(const char* operation)
    -> std::vector<Stepped> {
  std::vector<Stepped> all;
  std::size_t count = 0;
  for (const Group& group : groups_) count += group.parameters.size();
  all.reserve(count);  // a Stepped has a kilobyte, which takes long to move
  const NoGradGuard no_grad;
  for (Group& group : groups_) {
    check_states(operation, group);
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const Tensor& parameter = group.parameters[i];
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      check_own_grad_fits(operation, *parameter.impl());
      check_history_writable(operation, parameter);
      if (!parameter.is_leaf())
        fail<AutogradError>(operation, "a parameter of shape ", parameter.shape(),
                            " has a history since it was given; only leaves are stepped");
      if (parameter.array().may_self_overlap()) {
        fail<ShapeError>(operation, "a parameter of shape ", parameter.shape(), " with strides ",
                         parameter.strides(), " may name one element twice");
      }
      check_fits(operation, parameter, group.states[i]);
      all.push_back({&parameter, parameter.array().contiguous(), gradient.array().contiguous(),
                     &group.options, &group.states[i], group.states[i]});
    }
  }
  return all;
}

// set_data() may have changed a parameter's shape or dtype since its state was made.
template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::check_fits(const char* operation, const Tensor& parameter,
                                                     State& state) {
  state.named([&](const char* name, const Array& array, bool) {
    if (!array.defined()) return;
    if (array.shape() == parameter.shape() && array.dtype() == parameter.dtype()) return;
    fail<ShapeError>(operation, "a parameter is ", parameter.shape(), ' ', parameter.dtype(),
                     ", its ", name, " from earlier steps ", array.shape(), ' ', array.dtype());
  });
}

// False where two parameters, or one and a gradient, may share elements; all are then stepped one
// after the other. (A gradient that is not contiguous was copied before the first step.)
template <class Self, class Opts, class State>
bool GroupedOptimizer<Self, Opts, State>::lie_apart(const std::vector<Stepped>& all) {
  using Window = std::pair<std::uintptr_t, std::uintptr_t>;  // of addresses
  const auto window_of = [](const Array& array) {
    std::int64_t last = 0;
    for (std::int64_t d = 0; d < array.rank(); ++d)
      last += (array.shape()[d] - 1) * array.strides()[d];
    const auto first = reinterpret_cast<std::uintptr_t>(array.raw());
    return Window(first,
                  first + static_cast<std::uintptr_t>((last + 1) * item_size(array.dtype())));
  };
  std::vector<Window> written;
  for (const Stepped& each : all) {
    if (each.parameter->numel() > 0) written.push_back(window_of(each.parameter->array()));
  }
  std::sort(written.begin(), written.end());
  const auto overlaps = [](const Window& a, const Window& b) { return b.first < a.second; };
  if (std::adjacent_find(written.begin(), written.end(), overlaps) != written.end()) return false;
  return std::none_of(all.begin(), all.end(), [&](const Stepped& each) {
    if (each.gradient.numel() == 0) return false;
    const Window read = window_of(each.gradient);
    const auto behind = std::lower_bound(written.begin(), written.end(), Window(read.second, 0));
    return behind != written.begin() && overlaps(*std::prev(behind), read);
  });
}

template <class Self, class Opts, class State>
void GroupedOptimizer<Self, Opts, State>::check_states(const char* operation, const Group& group) {
  if (group.states.size() != group.parameters.size())
    fail(operation, "a group's parameters are chosen when it is added");
}

template <class Self, class Opts, class State>
template <class F>
void GroupedOptimizer<Self, Opts, State>::visit(F&& f) {
  std::size_t index = 0;
  for (Group& group : groups_) {
    check_states(Self::kName, group);
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      f(std::to_string(index++), group.parameters[i], group.states[i]);
    }
  }
}

}  // namespace tend::optim
