// What all optimizers have: parameter groups, and state per parameter that is saved and loaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/module/module.h>

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
/// Error for no parameters at all, as those of a module that registered none.
inline void check_some(const char* operation, const std::vector<Tensor>& parameters) {
  if (parameters.empty()) fail(operation, "optimizer got an empty parameter list");
}
}  // namespace detail

/// Base of an optimizer with settings `Options` and, for each parameter, a `State` whose `named(f)`
/// calls f(name, Array&, kept) for each of its arrays; `kept` is true for those that every
/// parameter has after its first step. A parameter without gradient is skipped.
template <class Options, class State>
class Optimizer {
 public:
  struct Group {
    std::vector<Tensor> parameters;
    Options options;
    std::vector<State> states;
  };

  /// A copy has the parameters themselves, and a state of its own.
  Optimizer(const Optimizer& other) {
    with_memory([&] {
      groups_ = other.groups_;
      for (Group& group : groups_) {
        for (State& state : group.states) {
          state.named([](const char*, Array& array, bool) {
            if (array.defined()) array = array.clone();
          });
        }
      }
    });
  }
  Optimizer(Optimizer&&) noexcept = default;
  Optimizer& operator=(const Optimizer& other) { return *this = Optimizer(other); }
  Optimizer& operator=(Optimizer&&) noexcept = default;
  ~Optimizer() = default;

  /// Adds parameters with settings of their own. DTypeError for one that is not floating,
  /// AutogradError for one with history, Error for one that the optimizer has already.
  void add_group(const std::vector<Tensor>& parameters, const Options& options) {
    with_memory([&] {
      check_new(parameters);
      groups_.push_back({parameters, options, std::vector<State>(parameters.size())});
    });
  }

  /// The groups; their options may be changed between steps.
  std::vector<Group>& groups() noexcept { return groups_; }

  /// Sets the learning rate of all groups; the next step() refuses one out of range.
  void set_lr(double lr) {
    for (Group& group : groups_) group.options.lr = lr;
  }

  void zero_grad() {
    for (Group& group : groups_) {
      for (Tensor& parameter : group.parameters) parameter.zero_grad();
    }
  }

  /// The state of every parameter that was stepped: "3.exp_avg" is that of the fourth, counted
  /// through all groups, and "3.step" the number of its steps.
  nn::StateDict state_dict() {
    nn::StateDict state;
    with_memory([&] {
      visit([&](const std::string& index, const Tensor&, State& each) {
        if (each.step == 0) return;
        state.emplace_back(index + ".step", tensor(each.step));
        each.named([&](const char* name, Array& array, bool) {
          if (array.defined()) state.emplace_back(as_text(index, '.', name), Tensor(array));
        });
      });
    });
    return state;
  }

  /// Loads a state_dict() of an optimizer over the same parameters, and forgets the state of those
  /// that it has no keys for (of all, when it is empty). An Error names the first key that does not
  /// fit, is missing, belongs to no parameter, or is there twice; nothing has changed then.
  void load_state_dict(const nn::StateDict& state) {
    with_memory([&] { load(state); });
  }

 protected:
  Optimizer() = default;

  /// What the closure of a step gives; it goes backward, whatever the grad mode is.
  template <class Closure>
  static Tensor call_closure(Closure& closure) {
    const GradModeGuard mode(true);
    return closure();
  }

  /// A parameter in a step; both arrays are row-major and of one dtype.
  struct Stepped {
    const Tensor* parameter;
    Array values, gradient;
    const Options* options;
    State* target;
    State state;  // the new value of `target`, its `step` counted up; once swapped, the old one
    std::int64_t end = 0;  // of its elements, counted through all parameters of a run
  };

  /// One step of every parameter with a gradient: first prepare(stepped) for each, which makes the
  /// arrays of its state; then update(stepped, begin, end) for ranges of their elements, in
  /// parallel. When something fails, nothing has changed.
  template <class Prepare, class Update>
  void step_all(const char* operation, Prepare prepare, Update update) {
    std::vector<Stepped> all;
    bool apart = true;
    with_memory([&] {
      all = with_gradients(operation);
      for (Stepped& each : all) {
        ++each.state.step;
        prepare(each);
      }
      apart = lie_apart(all);
    });
    // From here on nothing needs memory.
    for (Stepped& each : all) std::swap(*each.target, each.state);
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

 private:
  void check_new(const std::vector<Tensor>& parameters) const {
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
      if (!known.insert(parameter.impl().get()).second) {
        fail("Optimizer", "a parameter of shape ", parameter.shape(),
             " is given twice; each is stepped once");
      }
    }
  }

  void load(const nn::StateDict& state) {
    std::map<std::string_view, const Tensor*> entries;
    for (const auto& [key, value] : state) {
      if (!entries.emplace(key, &value).second) fail("load_state_dict", key, " is there twice");
    }
    std::vector<std::pair<State*, State>> loaded;
    visit([&](const std::string& index, const Tensor& parameter, State& each) {
      State fresh;
      const auto take = [&](const char* name, const Shape& shape, DType dtype, bool wanted) {
        const std::string key = as_text(index, '.', name);
        const auto entry = entries.find(key);
        if (entry == entries.end()) {
          if (wanted) fail("load_state_dict", key, " is missing");
          return Array();
        }
        const Tensor& value = *entry->second;
        if (!value.defined()) fail("load_state_dict", key, " is undefined");
        if (value.shape() != shape || value.dtype() != dtype) {
          fail("load_state_dict", key, " is ", value.shape(), ' ', value.dtype(), ", not ", shape,
               ' ', dtype);
        }
        Array copy = value.array().clone();
        entries.erase(entry);
        return copy;
      };
      const Array steps = take("step", {}, int64, false);
      if (steps.defined()) fresh.step = steps.item<std::int64_t>();
      constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;  // which double can count
      if (steps.defined() && (fresh.step < 1 || fresh.step > kMostSteps))
        fail("load_state_dict", index, ".step is ", fresh.step, ", not the number of a step");
      fresh.named([&](const char* name, Array& array, bool kept) {
        if (steps.defined()) array = take(name, parameter.shape(), parameter.dtype(), kept);
      });
      loaded.emplace_back(&each, std::move(fresh));
    });
    if (!entries.empty())
      fail("load_state_dict", entries.begin()->first, " belongs to no parameter");
    for (auto& [target, fresh] : loaded) *target = std::move(fresh);
  }

  template <class Update>
  static void step_run(const char* operation, std::span<Stepped> run, Update update) {
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

  std::vector<Stepped> with_gradients(const char* operation) {
    std::vector<Stepped> all;
    const NoGradGuard no_grad;
    for (Group& group : groups_) {
      if (group.states.size() != group.parameters.size())
        fail(operation, "a group's parameters are chosen when it is added");
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
                           parameter.strides(), " names one element twice");
        }
        check_fits(operation, parameter, group.states[i]);
        all.push_back({&parameter, parameter.array().contiguous(), gradient.array().contiguous(),
                       &group.options, &group.states[i], group.states[i]});
      }
    }
    return all;
  }

  // set_data() may have changed a parameter's shape or dtype since its state was made.
  static void check_fits(const char* operation, const Tensor& parameter, State& state) {
    state.named([&](const char* name, const Array& array, bool) {
      if (!array.defined()) return;
      if (array.shape() == parameter.shape() && array.dtype() == parameter.dtype()) return;
      fail<ShapeError>(operation, "a parameter is ", parameter.shape(), ' ', parameter.dtype(),
                       ", its ", name, " from earlier steps ", array.shape(), ' ', array.dtype());
    });
  }

  // False where two parameters may share elements; all are then stepped one after the other.
  static bool lie_apart(const std::vector<Stepped>& all) {
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> windows;
    for (const Stepped& each : all) {
      const Array& array = each.parameter->array();
      if (array.numel() == 0) continue;
      std::int64_t last = 0;
      for (std::int64_t d = 0; d < array.rank(); ++d)
        last += (array.shape()[d] - 1) * array.strides()[d];
      const auto first = reinterpret_cast<std::uintptr_t>(array.raw());
      const auto bytes = static_cast<std::uintptr_t>((last + 1) * item_size(array.dtype()));
      windows.emplace_back(first, first + bytes);
    }
    std::sort(windows.begin(), windows.end());
    return std::adjacent_find(windows.begin(), windows.end(), [](const auto& a, const auto& b) {
             return b.first < a.second;
           }) == windows.end();
  }

  template <class F>
  void visit(F&& f) {
    std::size_t index = 0;
    for (Group& group : groups_) {
      for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        f(std::to_string(index++), group.parameters[i], group.states[i]);
      }
    }
  }

  std::vector<Group> groups_;
};

}  // namespace tend::optim
