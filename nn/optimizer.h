// What the optimizers share: parameter groups, per-parameter state, and its way to a checkpoint.
#pragma once

#include <algorithm>
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
  /// A parameter in a step; both arrays are row-major and of one dtype.
  struct Stepped {
    const Tensor* parameter;
    Array values, gradient;
    const Options* options;
    State* state;      // its `step` is counted already
    std::int64_t end;  // of its elements, when all parameters' are counted through
  };

  /// One step of every parameter with a gradient: first prepare(parameter) for each, then
  /// update(parameter, begin, end) for pieces of their elements, in parallel.
  template <class Prepare, class Update>
  void step_all(const char* operation, Prepare prepare, Update update) {
    std::vector<Stepped> all = with_gradients();
    for (Stepped& each : all) {
      ++each.state->step;
      prepare(each);
    }
    constexpr std::int64_t kGrain = 16384;
    const std::int64_t total = all.empty() ? 0 : all.back().end;
    parallel_for(
        0, total, lie_apart(all) ? kGrain : total, [&](std::int64_t begin, std::int64_t end) {
          auto each =
              std::upper_bound(all.begin(), all.end(), begin,
                               [](std::int64_t at, const Stepped& s) { return at < s.end; });
          for (; begin < end; ++each) {
            const std::int64_t start = each->end - each->values.numel();
            const std::int64_t stop = std::min(end, each->end);
            update(*each, begin - start, stop - start);
            begin = stop;
          }
        });
    for (const Stepped& each : all) {
      const Array& array = each.parameter->array();
      if (!array.is_contiguous()) array.copy_from(each.values);
      array.storage()->bump_version(operation);
    }
  }

 private:
  std::vector<Stepped> with_gradients() {
    std::vector<Stepped> all;
    std::int64_t end = 0;
    for (Group& group : groups_) {
      for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        const Tensor& parameter = group.parameters[i];
        const Tensor gradient = parameter.grad();
        if (!gradient.defined()) continue;
        end += parameter.numel();
        all.push_back({&parameter, parameter.array().contiguous(), gradient.array().contiguous(),
                       &group.options, &group.states[i], end});
      }
    }
    return all;
  }

  // False where two parameters may share elements, which then are stepped one after the other.
  static bool lie_apart(const std::vector<Stepped>& all) {
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> windows;
    for (const Stepped& each : all) {
      const auto first = reinterpret_cast<std::uintptr_t>(each.values.raw());
      const auto bytes = each.values.numel() * item_size(each.values.dtype());
      if (bytes > 0) windows.emplace_back(first, first + static_cast<std::uintptr_t>(bytes));
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
