#include <tend/nn/optim/optimizer.h>

#include <algorithm>
#include <set>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/graph/timeline.h>
#include <tend/autograd/ops/creation.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/optim/state_reader.h>

namespace tend::optim {
namespace {

constexpr const char* kInitialRate = "initial_lr";

std::string option_key(std::size_t group, const char* name) {
  return as_text("group.", group, '.', name);
}

bool is_option(std::string_view key) {
  return key.starts_with("group.");
}

Tensor as_tensor(double option) {
  return Tensor(Array::scalar(option, float64));
}
Tensor as_tensor(std::int64_t option) {
  return Tensor(Array::scalar(option, int64));
}
Tensor as_tensor(const std::optional<std::int64_t>& option) {
  return option ? as_tensor(*option).view({1}) : empty({0}, int64);
}
Tensor as_tensor(const std::pair<double, double>& option) {
  return tensor(std::vector{option.first, option.second}, float64);
}
Tensor as_tensor(Flag option) {
  return Tensor(Array::scalar(static_cast<bool>(option), boolean));
}

void set_option(double& option, const Tensor& value) {
  option = value.item<double>();
}
void set_option(std::int64_t& option, const Tensor& value) {
  option = value.item<std::int64_t>();
}
void set_option(std::optional<std::int64_t>& option, const Tensor& value) {
  option = value.numel() > 0 ? std::optional(value.item<std::int64_t>()) : std::nullopt;
}
void set_option(std::pair<double, double>& option, const Tensor& value) {
  option = {value[0].item<double>(), value[1].item<double>()};
}
void set_option(Flag& option, const Tensor& value) {
  option = value.item<bool>();
}

template <class T>
void read_option(detail::StateReader& reader, const std::string& key, T& option, bool applies) {
  T sample = option;  // for its shape and dtype
  if constexpr (std::is_same_v<T, std::optional<std::int64_t>>)
    sample = reader.size_of(key) > 0 ? std::optional<std::int64_t>(0) : std::nullopt;
  const Tensor kind = as_tensor(sample);
  const Tensor value(reader.take(key, kind.shape(), kind.dtype()));
  if (applies) set_option(option, value);
}

// The state of a parameter whose keys begin with `prefix`.
ParameterState read_parameter(const std::string& prefix, const Tensor& parameter,
                              const std::vector<StateName>& names, detail::StateReader& reader) {
  ParameterState state;
  if (!reader.has(prefix + "step")) return state;
  state.step = reader.take_count(prefix + "step", 1);
  for (const auto& [name, always] : names) {
    const std::string key = prefix + name;
    if (always || reader.has(key))
      state.arrays[name] = reader.take(key, parameter.shape(), parameter.dtype()).clone();
  }
  return state;
}

// set_data() may have changed a parameter's shape or dtype since its state was made.
void check_state_fits(const char* operation, const Tensor& parameter, const ParameterState& state) {
  for (const auto& [name, array] : state.arrays) {
    if (array.shape() == parameter.shape() && array.dtype() == parameter.dtype()) continue;
    fail<ShapeError>(operation, "a parameter must be ", array.shape(), ' ', array.dtype(),
                     " as its ", name, " from earlier steps, but is ", parameter.shape(), ' ',
                     parameter.dtype());
  }
}

// The number of bytes that a step reads and writes.
std::int64_t bytes_of(const ParameterStep& step) {
  const auto arrays = 3 + 2 * static_cast<std::int64_t>(step.state.arrays.size());
  return arrays * step.values.numel() * item_size(step.values.dtype());
}

}  // namespace

const Array& ParameterStep::array(const char* name, double start) const {
  Array& array = state.arrays[name];
  if (!array.defined()) array = Array::full(values.shape(), start, values.dtype());
  return array;
}

void detail::check_from_zero(const char* operation, const char* option, double value) {
  if (!(value >= 0)) fail(operation, option, " must be at least 0, got ", value);
}

void detail::check_betas(const char* operation, const std::pair<double, double>& betas) {
  const auto [beta1, beta2] = betas;
  if (!(beta1 >= 0 && beta1 < 1) || !(beta2 >= 0 && beta2 < 1))
    fail(operation, "betas (", beta1, ", ", beta2, ") must lie in [0, 1)");
}

void Optimizer::check_new(const std::vector<Tensor>& parameters) {
  std::set<const TensorImpl*> known;
  for_each_parameter([&](const Tensor& parameter, const ParameterState&) {
    known.insert(parameter.impl().get());
  });
  for (const Tensor& parameter : parameters) {
    if (!is_floating(parameter.dtype()))
      fail<DTypeError>("Optimizer", "parameters must be floating, got ", parameter.dtype());
    if (!parameter.is_leaf())
      fail<AutogradError>("Optimizer", "parameters must be leaves, but one of shape ",
                          parameter.shape(), " has history");
    if (!known.insert(parameter.impl().get()).second)
      fail("Optimizer", "each parameter must be given once, but one of shape ", parameter.shape(),
           " is given twice");
  }
}

ParameterGroup& Optimizer::existing_group(const char* operation, std::size_t group) const {
  if (group >= group_count())
    fail<IndexError>(operation, "group ", group, " is out of range for ", group_count(), " groups");
  return const_cast<Optimizer*>(this)->group_at(group);
}

template <class T>
T* Optimizer::option(const char* operation, std::size_t group, std::string_view name) const {
  existing_group(operation, group);
  T* found = nullptr;
  const_cast<Optimizer*>(this)->visit_options(group, [&](const char* each, OptionPointer option) {
    if (name == each && std::holds_alternative<T*>(option)) found = std::get<T*>(option);
  });
  return found;
}

double Optimizer::lr(std::size_t group) const {
  return *option<double>("lr", group, "lr");
}

void Optimizer::set_lr(std::size_t group, double lr) {
  *option<double>("set_lr", group, "lr") = lr;
}

double* Optimizer::momentum_of(const char* operation, std::size_t group) const {
  auto* const betas = option<std::pair<double, double>>(operation, group, "betas");
  return betas != nullptr ? &betas->first : option<double>(operation, group, "momentum");
}

std::optional<double> Optimizer::momentum(std::size_t group) const {
  const double* const momentum = momentum_of("momentum", group);
  return momentum != nullptr ? std::optional(*momentum) : std::nullopt;
}

void Optimizer::set_momentum(std::size_t group, double momentum) {
  double* const option = momentum_of("set_momentum", group);
  if (option == nullptr) fail("set_momentum", "this optimizer has no momentum");
  *option = momentum;
}

std::optional<double> Optimizer::initial_lr(std::size_t group) const {
  return existing_group("initial_lr", group).initial_lr;
}

void Optimizer::set_initial_lr(std::size_t group, double lr) {
  existing_group("set_initial_lr", group).initial_lr = lr;
}

ParameterGroup& Optimizer::checked_group(std::size_t group) {
  ParameterGroup& found = group_at(group);
  if (found.states.size() != found.parameters.size())
    fail(step_name(), "the list of a group's parameters must not change after add_group");
  return found;
}

template <class F>
void Optimizer::for_each_parameter(F&& f) {
  for (std::size_t g = 0; g < group_count(); ++g) {
    ParameterGroup& group = checked_group(g);
    for (std::size_t i = 0; i < group.parameters.size(); ++i)
      f(group.parameters[i], group.states[i]);
  }
}

void Optimizer::zero_grad() {
  for (std::size_t g = 0; g < group_count(); ++g) {
    for (Tensor& parameter : group_at(g).parameters) parameter.zero_grad();
  }
}

std::vector<ParameterStep> Optimizer::checked_steps() {
  const char* const name = step_name();
  std::vector<ParameterStep> steps;
  for (std::size_t g = 0; g < group_count(); ++g) {
    check_group(g);
    ParameterGroup& group = checked_group(g);
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const Tensor& parameter = group.parameters[i];
      const Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      check_own_grad_fits(name, *parameter.impl());
      check_writable(name, parameter);
      check_state_fits(name, parameter, group.states[i]);
      steps.push_back({g, parameter, parameter.array().contiguous(), gradient.array().contiguous(),
                       group.states[i]});
    }
  }
  return steps;
}

void Optimizer::make_step() {
  autograd::ProfiledPart part(step_name());
  const NoGradGuard no_grad;
  std::vector<ParameterStep> steps = checked_steps();
  std::int64_t total = 0;
  for (ParameterStep& each : steps) {
    ++each.state.step;
    each.update = prepare(each);
    each.end_index = total += each.values.numel();
    part.add_bytes(bytes_of(each));
  }
  // One parallel pass over the elements of all parameters.
  constexpr std::int64_t kGrain = 16384;
  parallel_for(0, total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    auto each = std::upper_bound(
        steps.begin(), steps.end(), begin,
        [](std::int64_t index, const ParameterStep& step) { return index < step.end_index; });
    for (; begin < end; ++each) {
      const std::int64_t first = each->end_index - each->values.numel();
      const std::int64_t stop = std::min(end, each->end_index);
      each->update(begin - first, stop - first);
      begin = stop;
    }
  });
  for (const ParameterStep& each : steps) {
    const Array& array = each.parameter.array();
    if (!array.is_contiguous()) array.copy_from(each.values);
    array.storage()->bump_version(step_name());
  }
}

nn::StateDict Optimizer::state_dict() {
  nn::StateDict state;
  std::size_t index = 0;
  for_each_parameter([&](const Tensor&, const ParameterState& each) {
    const std::string prefix = as_text(index++, '.');
    if (each.step == 0) return;
    state.emplace_back(prefix + "step", tensor(each.step));
    for (const auto& [name, array] : each.arrays) state.emplace_back(prefix + name, Tensor(array));
  });
  for (std::size_t g = 0; g < group_count(); ++g) {
    visit_options(g, [&](const char* name, OptionPointer option) {
      std::visit([&](const auto* o) { state.emplace_back(option_key(g, name), as_tensor(*o)); },
                 option);
    });
    if (const std::optional<double> initial = initial_lr(g))
      state.emplace_back(option_key(g, kInitialRate), as_tensor(*initial));
  }
  return state;
}

void Optimizer::load_state_dict(const nn::StateDict& state) {
  for (const bool applies : {false, true}) read_state(state, applies);  // checks, then applies
}

void Optimizer::read_state(const nn::StateDict& state, bool applies) {
  detail::StateReader reader("load_state_dict", state);
  std::size_t index = 0;
  for_each_parameter([&](const Tensor& parameter, ParameterState& each) {
    ParameterState read = read_parameter(as_text(index++, '.'), parameter, state_names(), reader);
    if (applies) each = std::move(read);
  });
  const bool has_options =
      std::any_of(state.begin(), state.end(), [](const auto& e) { return is_option(e.first); });
  for (std::size_t g = 0; has_options && g < group_count(); ++g) {
    visit_options(g, [&](const char* name, OptionPointer option) {
      std::visit([&](auto* o) { read_option(reader, option_key(g, name), *o, applies); }, option);
    });
    const std::string key = option_key(g, kInitialRate);
    const auto initial = reader.has(key) ? std::optional(reader.take_number(key)) : std::nullopt;
    if (applies) group_at(g).initial_lr = initial;
  }
  if (const auto key = reader.left())
    fail("load_state_dict", *key,
         is_option(*key) ? " belongs to no group" : " belongs to no parameter");
}

}  // namespace tend::optim
