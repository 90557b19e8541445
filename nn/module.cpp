#include <tend/nn/module.h>

#include <algorithm>
#include <ostream>
#include <unordered_set>

#include <tend/autograd/grad_mode.h>
#include <tend/core/type_name.h>

namespace tend::nn {

template <class T>
T& ModuleBase::member(const Entry& entry) const {
  return *reinterpret_cast<T*>(reinterpret_cast<char*>(&self()) + entry.offset);
}

std::vector<std::pair<std::string, ModuleBase*>> ModuleBase::named_children() {
  std::vector<std::pair<std::string, ModuleBase*>> children;
  for (const Entry& entry : entries_) {
    if (entry.kind == Kind::module) children.emplace_back(entry.name, &member<ModuleBase>(entry));
  }
  return children;
}

std::vector<std::pair<std::string, ModuleBase*>> ModuleBase::named_modules() {
  std::vector<std::pair<std::string, ModuleBase*>> all{{"", this}};
  for (const auto& [name, child] : named_children()) {
    for (auto& [path, module] : child->named_modules()) {
      all.emplace_back(path.empty() ? name : concat(name, '.', path), module);
    }
  }
  return all;
}

// Per module its parameters, then its buffers, as PyTorch orders them.
StateDict ModuleBase::named_tensors(bool parameters, bool buffers) const {
  StateDict tensors;
  for (const auto& [path, module] : self().named_modules()) {
    for (const Kind kind : {Kind::parameter, Kind::buffer}) {
      if (!(kind == Kind::parameter ? parameters : buffers)) continue;
      for (const Entry& entry : module->entries_) {
        if (entry.kind != kind) continue;
        const Tensor& tensor = module->member<Tensor>(entry);
        if (tensor.defined())
          tensors.emplace_back(path.empty() ? entry.name : concat(path, '.', entry.name), tensor);
      }
    }
  }
  return tensors;
}

namespace {

const Tensor& tensor_of(const std::pair<std::string, Tensor>& named) {
  return named.second;
}
const Tensor& tensor_of(const Tensor& tensor) {
  return tensor;
}

template <class Tensors>
Tensors without_repeats(Tensors tensors) {
  std::unordered_set<const TensorImpl*> seen;
  std::erase_if(
      tensors, [&](const auto& each) { return !seen.insert(tensor_of(each).impl().get()).second; });
  return tensors;
}

}  // namespace

StateDict ModuleBase::named_parameters() const {
  return without_repeats(named_tensors(true, false));
}
StateDict ModuleBase::named_buffers() const {
  return without_repeats(named_tensors(false, true));
}

// As named_tensors, without the names: training asks for them at every step.
void ModuleBase::collect(Kind kind, std::vector<Tensor>& tensors) const {
  for (const Entry& entry : entries_) {
    if (entry.kind != kind) continue;
    const Tensor& tensor = member<Tensor>(entry);
    if (tensor.defined()) tensors.push_back(tensor);
  }
  for (const auto& [name, child] : self().named_children()) child->collect(kind, tensors);
}

std::vector<Tensor> ModuleBase::parameters() const {
  std::vector<Tensor> tensors;
  collect(Kind::parameter, tensors);
  return without_repeats(std::move(tensors));
}
std::vector<Tensor> ModuleBase::buffers() const {
  std::vector<Tensor> tensors;
  collect(Kind::buffer, tensors);
  return without_repeats(std::move(tensors));
}

void ModuleBase::train(Flag mode) {
  for (const auto& [path, module] : named_modules()) module->training_ = mode;
}

StateDict ModuleBase::state_dict() const {
  StateDict state = named_tensors(true, true);
  for (auto& [name, tensor] : state) tensor = tensor.detach();
  return state;
}

void ModuleBase::load_state_dict(const StateDict& state, Flag strict) {
  struct Match {
    Tensor target;
    Tensor source;
  };
  const auto find = [](const StateDict& dict, const std::string& name) {
    return std::find_if(dict.begin(), dict.end(),
                        [&](const auto& each) { return each.first == name; });
  };
  const StateDict own = named_tensors(true, true);
  std::vector<Match> matches;
  std::string problems;
  for (const auto& [name, target] : own) {
    const auto source = find(state, name);
    if (source == state.end()) {
      if (strict) problems += concat("\n  missing key ", name, ' ', target.shape());
    } else if (source->second.shape() != target.shape()) {
      problems += concat("\n  key ", name, " has shape ", source->second.shape(), ", the module ",
                         target.shape());
    } else {
      matches.push_back({target, source->second});
    }
  }
  for (const auto& [name, source] : state) {
    if (strict && find(own, name) == own.end())
      problems += concat("\n  unexpected key ", name, ' ', source.shape());
  }
  if (!problems.empty())
    fail("load_state_dict", type_name(), " does not take this state:", problems);
  for (const auto& [path, module] : named_modules()) {
    for (const Entry& entry : module->entries_) {
      if (entry.kind == Kind::module) continue;
      const auto source = find(state, path.empty() ? entry.name : concat(path, '.', entry.name));
      if (source != state.end()) module->check_loaded(entry.name, source->second);
    }
  }
  const NoGradGuard guard;
  for (const Match& match : matches) match.target.copy_(match.source);
}

void ModuleBase::apply(const std::function<void(ModuleBase&)>& f) {
  for (const auto& [name, child] : named_children()) child->apply(f);
  f(*this);
}

void ModuleBase::to(DType dtype) {
  if (!is_floating(dtype)) fail<DTypeError>("Module::to", "modules are floating, got ", dtype);
  for (auto& [name, tensor] : named_tensors(true, true)) {
    if (!is_floating(tensor.dtype()) || tensor.dtype() == dtype) continue;
    tensor.zero_grad();
    tensor.set_data(tensor.detach().to(dtype));
  }
}

void ModuleBase::zero_grad() const {
  std::vector<Tensor> tensors;
  collect(Kind::parameter, tensors);
  for (Tensor& parameter : tensors) parameter.zero_grad();
}

void ModuleBase::requires_grad_(Flag value) const {
  for (Tensor& parameter : parameters()) parameter.requires_grad_(value);
}

std::int64_t ModuleBase::num_parameters(Flag only_trainable) const {
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters()) {
    if (!only_trainable || parameter.requires_grad()) count += parameter.numel();
  }
  return count;
}

ModuleHooks& ModuleBase::make_hooks() {
  if (!hooks_) hooks_ = std::make_shared<ModuleHooks>();
  return *hooks_;
}

HookHandle ModuleBase::register_forward_pre_hook(ForwardPreHook hook) {
  return make_hooks().before.add(std::move(hook));
}
HookHandle ModuleBase::register_forward_hook(ForwardHook hook) {
  return make_hooks().after.add(std::move(hook));
}
HookHandle ModuleBase::register_backward_hook(BackwardHook hook) {
  return make_hooks().backward.add(std::move(hook));
}

void ModuleBase::fail_hooks() const {
  fail("register_forward_hook", type_name(), "'s forward does not give a single tensor");
}

std::string ModuleBase::type_name() const {
  return tend::type_name(typeid(*this));
}

namespace {

std::string indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

std::string ModuleBase::repr() const {
  // Neighbours that look alike are printed once, "(0-3): 4 x Block(...)", where they are numbered.
  struct Line {
    std::string first, last, text;
    int count = 1;
  };
  const bool numbered = type_name() == "ModuleList";
  std::vector<Line> lines;
  for (const auto& [name, child] : self().named_children()) {
    const std::string text = child->repr();
    if (numbered && !lines.empty() && lines.back().text == text) {
      lines.back().last = name;
      ++lines.back().count;
    } else {
      lines.push_back({name, name, text});
    }
  }
  std::string out = type_name() + "(" + extra_repr();
  for (const Line& line : lines) {
    out += line.count == 1 ? concat("\n  (", line.first, "): ", indented(line.text))
                           : concat("\n  (", line.first, '-', line.last, "): ", line.count, " x ",
                                    indented(line.text));
  }
  return out + (lines.empty() ? ")" : "\n)");
}

std::ostream& operator<<(std::ostream& out, const ModuleBase& module) {
  return out << module.repr();
}

}  // namespace tend::nn
