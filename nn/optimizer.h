// What the optimizers share: parameter groups, per-parameter state, and its way to a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tend/core/parallel.h>
#include <tend/nn/module.h>

namespace tend::optim {

/// Base of an optimizer with settings `Options` and, for each parameter, a `State` whose `named(f)`
/// calls f(name, Array&) for each of its arrays. A parameter without gradient is passed over.
template <class Options, class State>
class Optimizer {
 public:
  struct Group {
    std::vector<Tensor> parameters;
    Options options;
    std::vector<State> states;
  };

  /// More parameters, with settings of their own. DTypeError for one that is not floating.
  void add_group(const std::vector<Tensor>& parameters, const Options& options) {
    for (const Tensor& parameter : parameters) {
      if (!is_floating(parameter.dtype()))
        fail<DTypeError>("Optimizer", "a parameter is ", parameter.dtype());
    }
    groups_.push_back({parameters, options, std::vector<State>(parameters.size())});
  }

  /// The groups; their options may be changed between steps.
  std::vector<Group>& groups() noexcept { return groups_; }

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
    visit([&](const std::string& index, const Tensor&, State& each) {
      if (each.step == 0) return;
      state.emplace_back(index + ".step", tensor(each.step));
      each.named([&](const char* name, Array& array) {
        if (array.defined()) state.emplace_back(concat(index, '.', name), Tensor(array));
      });
    });
    return state;
  }

  /// Takes a state_dict() of an optimizer over the same parameters; an Error names the first key
  /// that does not fit.
  void load_state_dict(const nn::StateDict& state) {
    std::vector<std::pair<State*, State>> loaded;
    std::size_t used = 0;
    visit([&](const std::string& index, const Tensor& parameter, State& each) {
      State fresh;
      const auto take = [&](const std::string& name, const Shape& shape, DType dtype) {
        for (const auto& [key, value] : state) {
          if (key != concat(index, '.', name)) continue;
          if (value.shape() != shape || value.dtype() != dtype) {
            fail("load_state_dict", key, " is ", value.shape(), ' ', value.dtype(), ", not ", shape,
                 ' ', dtype);
          }
          ++used;
          return value.array().clone();
        }
        return Array();
      };
      if (const Array steps = take("step", {}, int64); steps.defined())
        fresh.step = steps.item<std::int64_t>();
      fresh.named([&](const char* name, Array& array) {
        array = take(name, parameter.shape(), parameter.dtype());
      });
      loaded.emplace_back(&each, std::move(fresh));
    });
    if (used != state.size()) {
      fail("load_state_dict", state.size() - used, " of ", state.size(),
           " keys belong to no parameter");
    }
    for (auto& [target, fresh] : loaded) *target = std::move(fresh);
  }

 protected:
  /// update(parameter, gradient, options, state) for every parameter with a gradient; both arrays
  /// are contiguous and of one dtype, and `step` of the state is counted already.
  template <class Update>
  void for_each_gradient(const char* operation, Update&& update) {
    for (Group& group : groups_) {
      for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        const Tensor& parameter = group.parameters[i];
        const Tensor gradient = parameter.grad();
        if (!gradient.defined()) continue;
        ++group.states[i].step;
        const Array values = parameter.array().contiguous();
        update(values, gradient.array().contiguous(), group.options, group.states[i]);
        if (!parameter.is_contiguous()) parameter.array().copy_from(values);
        parameter.array().storage()->bump_version(operation);
      }
    }
  }

  /// f(begin, end) over the elements of `array`, in parallel where it is large.
  template <class F>
  static void for_elements(const Array& array, F&& f) {
    constexpr std::int64_t kGrain = 16384;
    parallel_for(0, array.numel(), kGrain, std::forward<F>(f));
  }

 private:
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
