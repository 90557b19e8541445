#include "leaf_program.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>

#include <tend/autograd/graph/node.h>

#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

constexpr double kLargestNumber = 1e5;  // a program with larger numbers ends
constexpr std::size_t kMaxValues = 14;

const char* python_of(Mode mode) {
  switch (mode) {
    case Mode::no_grad: return "torch.no_grad()";
    case Mode::enable_grad: return "torch.enable_grad()";
    case Mode::inference: return "torch.inference_mode()";
    case Mode::usual: break;
  }
  return "torch.inference_mode(False)";
}

void under(std::span<const Mode> modes, const std::function<void()>& f) {
  if (modes.empty()) return f();
  const std::span<const Mode> inner = modes.subspan(1);
  if (modes[0] == Mode::no_grad || modes[0] == Mode::enable_grad) {
    const GradModeGuard guard(modes[0] == Mode::enable_grad);
    under(inner, f);
  } else {
    const InferenceModeGuard guard(modes[0] == Mode::inference);
    under(inner, f);
  }
}

std::vector<nn::StateDict> states(std::deque<Trainer>& trainers) {
  std::vector<nn::StateDict> all;
  all.reserve(trainers.size());
  for (Trainer& each : trainers) all.push_back(each.state_dict());
  return all;
}

// Whether a graph leads from `tensor` to `leaf`, or has saved its elements, or these are its own.
bool depends(const Tensor& tensor, const Tensor& leaf) {
  if (!tensor.defined()) return false;
  const auto shares = [&](const Array& array) {
    return array.defined() && array.storage() == leaf.array().storage();
  };
  if (shares(tensor.array())) return true;
  std::vector<Edge> edges{gradient_edge(tensor)};
  std::unordered_set<const Node*> seen;
  while (!edges.empty()) {
    const Edge edge = std::move(edges.back());
    edges.pop_back();
    if (edge.leaf && edge.leaf == leaf.impl()->slot) return true;
    if (!edge.node || !seen.insert(edge.node.get()).second) continue;
    for (const SavedTensor& saved : edge.node->saved()) {
      if (shares(saved.array())) return true;
    }
    edges.insert(edges.end(), edge.node->edges().begin(), edge.node->edges().end());
  }
  return false;
}

bool has_history(const Tensor& tensor) {
  return tensor.defined() && (!tensor.is_leaf() || tensor.impl()->base);
}

}  // namespace

nn::StateDict Trainer::state_dict() {
  return std::visit([](auto& each) { return each.state_dict(); }, optimizer);
}

LeafProgram::LeafProgram(std::uint64_t seed) : dice(seed), seed_(seed) {
  add_leaves();
  add_steps();
}

std::string LeafProgram::python() const {
  std::string text;
  for (const Statement& each : statements_) text += each.python + '\n';
  return text;
}

void LeafProgram::add_leaves() {
  const std::int64_t count = dice.between(2, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    Shape shape;
    for (std::int64_t rank = dice.between(0, 3); rank > 0; --rank) {
      shape.push_back(dice.chance(0.02) ? 0 : dice.between(1, 3));
    }
    const DType dtype = dice.chance(0.1) ? float32 : float64;
    const std::uint64_t seed = seed_ * 1000 + static_cast<std::uint64_t>(next_);
    const std::string name = fresh('x');
    act(as_text(name, " = leaf(", seed, ", ", tuple(shape), ", ", dtype_text(dtype), ")"), [&] {
      Tensor tensor = drawn(seed, shape, dtype, -2, 2);
      bind(name, tensor.requires_grad_(), Role::leaf);
    });
  }
}

void LeafProgram::add_steps() {
  std::vector<const LeafEntry*> lots;
  for (const LeafEntry& entry : leaf_catalogue())
    lots.insert(lots.end(), static_cast<std::size_t>(entry.weight), &entry);
  const auto most = static_cast<std::size_t>(dice.between(8, 40));
  for (int attempt = 0; attempt < 400 && statements_.size() < most && is_tame(); ++attempt) {
    const LeafEntry& entry = *dice.of(lots);
    if (entry.add(*this)) entries_.insert(entry.name);
    // The oldest value goes, so that statements stay short of time.
    std::vector<std::string> values;
    for (const Named& each : all()) {
      if (each.role != Role::leaf) values.push_back(each.name);
    }
    if (values.size() > kMaxValues) {
      forget([first = find(values[0])](const Tensor& x) { return x.impl() == first.impl(); });
    }
  }
}

bool LeafProgram::is_tame() const {
  const World& last = statements_.back().after;
  return std::all_of(last.begin(), last.end(), [](const auto& each) {
    return each.second.magnitude <= kLargestNumber && each.second.grad_magnitude <= kLargestNumber;
  });
}

bool LeafProgram::act(const std::string& python, const std::function<void()>& f,
                      const Modes& modes) {
  Statement& statement = statements_.emplace_back();
  for (const Mode mode : modes)
    statement.python += as_text(statement.python.empty() ? "with " : ", ", python_of(mode));
  statement.python += (modes.empty() ? "" : ": ") + python;
  before_.emplace(world_, states(trainers));
  try {
    under(modes, f);
  } catch (const std::exception& error) {
    statement.error = error.what();
    statement.trace = before_->difference(world_, states(trainers));
    if (dynamic_cast<const Error*>(&error) == nullptr &&
        dynamic_cast<const HookError*>(&error) == nullptr)
      statement.trace += " an exception that is not tend's";
  }
  before_.reset();
  for (const Named& each : all()) {
    statement.after[each.name] = state_of(each.tensor);
    single_ = single_ || (each.tensor.defined() && each.tensor.dtype() == float32);
  }
  for (Trainer& trainer : trainers) {
    // Options are settings of the program, not its results; PyTorch's SGD does not count its steps.
    const bool counts = std::holds_alternative<optim::AdamW>(trainer.optimizer);
    for (const auto& [key, value] : trainer.state_dict()) {
      if (!key.starts_with("group.") && (counts || !key.ends_with(".step")))
        statement.after[as_text(trainer.name, '.', key)] = state_of(value);
    }
  }
  return statement.error.empty();
}

bool LeafProgram::define(Role role, const std::string& python, const std::function<Tensor()>& f,
                         const Modes& modes) {
  const std::string name = fresh(role == Role::plain ? 'b' : 'v');
  return act(
      as_text(name, " = ", python), [&] { bind(name, f(), role); }, modes);
}

void LeafProgram::bind(const std::string& name, const Tensor& tensor, Role role) {
  world_.bind(name, tensor, role);
}

std::string LeafProgram::fresh(char letter) {
  return as_text(letter, next_++);
}

void LeafProgram::touched(const std::string& name) {
  if (!before_) return;
  for (const Named& each : all()) {
    if (each.name == name) before_->retake(each);
  }
}

Named LeafProgram::leaf() {
  std::vector<Named> leaves;
  for (const Named& each : all()) {
    if (each.role == Role::leaf) leaves.push_back(each);
  }
  return dice.of(leaves);
}

Named LeafProgram::real() {
  for (int attempt = 0; attempt < 20; ++attempt) {
    // Late values are taken more often, so that programs become deep.
    const double place = std::sqrt(dice.uniform()) * static_cast<double>(all().size());
    Named each = all()[static_cast<std::size_t>(place)];
    if (each.tensor.defined() && is_floating(each.tensor.dtype())) return each;
  }
  return leaf();
}

std::optional<Named> LeafProgram::tracked() {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Named each = real();
    if (each.tensor.requires_grad() && !each.tensor.is_leaf()) return each;
  }
  return std::nullopt;
}

Named LeafProgram::plain(const Shape& shape, DType dtype) {
  const std::uint64_t seed = seed_ * 1000 + static_cast<std::uint64_t>(next_);
  const std::string name = fresh('b');
  act(as_text(name, " = plain(", seed, ", ", tuple(shape), ", ", dtype_text(dtype), ")"),
      [&] { bind(name, drawn(seed, shape, dtype, -2, 2), Role::plain); });
  return all().back();
}

Named LeafProgram::partner(const Named& other) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    Named each = real();
    if (each.tensor.dtype() != other.tensor.dtype()) continue;
    try {
      broadcast_shapes("fuzz", each.tensor.shape(), other.tensor.shape());
      return each;
    } catch (const ShapeError&) {
      continue;
    }
  }
  return plain(other.tensor.shape(), other.tensor.dtype());
}

Modes LeafProgram::some_modes(double chance) {
  Modes modes;
  for (int i = 0; i < 2 && dice.chance(chance); ++i) {
    constexpr Mode kModes[] = {Mode::no_grad, Mode::enable_grad, Mode::inference, Mode::usual};
    modes.push_back(dice.of(kModes));
  }
  return modes;
}

void LeafProgram::forget_dependents(const std::string& name) {
  forget(
      [x = find(name)](const Tensor& each) { return each.impl() != x.impl() && depends(each, x); });
}

void LeafProgram::forget_views(const std::string& name) {
  forget([x = find(name)](const Tensor& each) {
    return each.defined() && each.impl() != x.impl() &&
           each.array().storage() == x.array().storage();
  });
}

void LeafProgram::forget_graphs() {
  forget(has_history);
}

void LeafProgram::forget(const std::function<bool(const Tensor&)>& matches) {
  std::vector<std::string> gone, without_grad;
  for (const Named& each : all()) {
    if (each.role != Role::leaf && (matches(each.tensor) || !each.tensor.defined())) {
      gone.push_back(each.name);
    } else if (matches(each.tensor.grad())) {
      without_grad.push_back(each.name);
    }
  }
  for (const std::string& name : without_grad)
    act(as_text(name, ".grad = None"), [&] { find(name).zero_grad(); });
  std::string names;
  for (const std::string& name : gone) names += as_text(names.empty() ? "" : ", ", name);
  if (gone.empty()) return;
  act("del " + names, [&] {
    for (const std::string& name : gone) world_.erase(name);
  });
}

void LeafProgram::clear_misfits() {
  for (const Named& each : std::vector<Named>(all())) {
    const Tensor gradient = each.tensor.grad();
    if (!gradient.defined()) continue;
    if (gradient.shape() == each.tensor.shape() && gradient.dtype() == each.tensor.dtype())
      continue;
    act(each.name + ".grad = None", [&] { find(each.name).zero_grad(); });
  }
}

bool LeafProgram::has_acting_hooks() const {
  return std::any_of(hooks.begin(), hooks.end(), [](const Hook& hook) { return hook.acts; });
}

}  // namespace fuzz
