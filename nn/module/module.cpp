#include <tend/nn/module/module.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <unordered_set>

#include <tend/core/base/nested_call.h>
#include <tend/core/base/type_name.h>

namespace tend::nn {

std::vector<std::pair<std::string, ModuleBase*>> ModuleBase::named_children() {
  std::vector<std::pair<std::string, ModuleBase*>> children;
  for (const Entry& entry : entries_) {
    if (entry.kind == MemberKind::module)
      children.emplace_back(entry.name, &member<ModuleBase>(entry));
  }
  for (Extra& extra : extras_) {
    if (extra.module) children.emplace_back(extra.name, &extra.module->module());
  }
  return children;
}

// Modules may be nested as deeply as the user likes, so trees are walked without recursion.
std::vector<std::pair<std::string, ModuleBase*>> ModuleBase::named_modules() {
  std::vector<std::pair<std::string, ModuleBase*>> all, waiting{{"", this}};
  while (!waiting.empty()) {
    all.push_back(std::move(waiting.back()));
    waiting.pop_back();
    const auto& [path, module] = all.back();
    auto children = module->named_children();
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      auto& [name, inner] = *child;
      waiting.emplace_back(path.empty() ? std::move(name) : as_text(path, '.', name), inner);
    }
  }
  return all;
}

std::vector<ModuleBase*> ModuleBase::modules() const {
  std::vector<ModuleBase*> all, waiting{&self()};
  while (!waiting.empty()) {
    all.push_back(waiting.back());
    waiting.pop_back();
    const auto children = all.back()->named_children();
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      waiting.push_back(child->second);
  }
  return all;
}

bool ModuleBase::holds(const ModuleBase& other) const {
  bool found = false;
  std::vector<ModuleBase*> waiting{&self()};
  while (!waiting.empty() && !found) {
    ModuleBase* const each = waiting.back();
    waiting.pop_back();
    found = each == &other;
    try {
      for (const auto& [name, child] : each->named_children()) waiting.push_back(child);
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const Error&) {  // an AnyModule was moved from: nothing stands there
    }
  }
  return found;
}

void ModuleBase::check_apart(const ModuleBase& other) const {
  if (&other != this && holds(other))
    fail(type_name(), "a module that stands in it cannot take its place; move that out first");
}

void ModuleBase::check_outside(const ModuleBase& other) const {
  if (&other != this && other.holds(*this))
    fail(type_name(), "a module cannot take the place of one that stands in it");
}

ModuleBase& ModuleBase::operator=(ModuleBase&& other) {
  check_outside(other);
  check_assignable(other);
  if (&other != this) take(std::move(other));
  return *this;
}

void ModuleBase::check_assignable(const ModuleBase& other) const {
  check_apart(other);
  // The assignment destroys modules that are registered or in lists, while members are assigned
  // one by one.
  const ModuleBase* running = ModuleScope::running_in(*this, own_bytes());
  if (running != nullptr) fail_change(type_name().c_str(), *running);
}

void ModuleBase::check_class(const std::type_info& declared) const {
  if (typeid(*this) != declared)
    fail(type_name(),
         "a class derived from another module's has that one's forward and clone: "
         "derive it from nn::Module<",
         type_name(), ">, with the other module as a member");
}

void ModuleBase::take(ModuleBase&& other) noexcept {
  entries_ = std::move(other.entries_);
  extras_ = std::move(other.extras_);
  hooks_ = std::move(other.hooks_);
  training_ = other.training_;
  checked_ = other.checked_;
}

int ModuleBase::depth() {
  int deepest = 0;
  const NestedCall nested("depth");
  for (const auto& [name, child] : named_children()) deepest = std::max(deepest, child->depth());
  return deepest + 1;
}

void ModuleBase::each_tensor(FunctionRef<void(const OwnTensor&)> f) {
  for (const Entry& entry : entries_) {
    if (entry.kind != MemberKind::module)
      f({entry.name, entry.kind, entry.persistent, member<Tensor>(entry)});
  }
  for (Extra& extra : extras_) {
    if (extra.kind != MemberKind::module)
      f({extra.name, extra.kind, extra.persistent, extra.tensor});
  }
}

// Per module its parameters, then its buffers, as PyTorch orders them.
std::vector<ModuleBase::PathTensor> ModuleBase::path_tensors() const {
  std::vector<PathTensor> tensors;
  for (const auto& [path, owner] : self().named_modules()) {
    for (const MemberKind kind : {MemberKind::parameter, MemberKind::buffer}) {
      owner->each_tensor([&, at = &path, module = owner](const OwnTensor& own) {
        if (own.kind != kind || !own.tensor.defined()) return;
        tensors.push_back({at->empty() ? std::string(own.name) : as_text(*at, '.', own.name),
                           std::string(own.name), kind, own.persistent, own.tensor, module});
      });
    }
  }
  return tensors;
}

std::vector<std::pair<std::string, Tensor>> ModuleBase::named(MemberKind kind) const {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (PathTensor& each : path_tensors()) {
    if (each.kind == kind) tensors.emplace_back(std::move(each.path), std::move(each.tensor));
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
template <class Named>
const Tensor& tensor_of(const Named& named) {
  return named.tensor;
}

template <class Tensors>
Tensors without_repeats(Tensors tensors) {
  std::unordered_set<const TensorImpl*> seen;
  std::erase_if(
      tensors, [&](const auto& each) { return !seen.insert(tensor_of(each).impl().get()).second; });
  return tensors;
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> ModuleBase::named_parameters() const {
  return without_repeats(named(MemberKind::parameter));
}
std::vector<std::pair<std::string, Tensor>> ModuleBase::named_buffers() const {
  return without_repeats(named(MemberKind::buffer));
}

// As named, without the cost of making names: training calls this at every step.
std::vector<Tensor> ModuleBase::collect(MemberKind kind) const {
  std::vector<Tensor> tensors;
  for (ModuleBase* module : modules()) {
    module->each_tensor([&](const OwnTensor& own) {
      if (own.kind == kind && own.tensor.defined()) tensors.push_back(own.tensor);
    });
  }
  return tensors;
}

std::vector<Tensor> ModuleBase::parameters() const {
  return without_repeats(collect(MemberKind::parameter));
}
std::vector<Tensor> ModuleBase::buffers() const {
  return without_repeats(collect(MemberKind::buffer));
}

void ModuleBase::train(Flag mode) {
  for (ModuleBase* module : modules()) module->training_ = mode;
}

void ModuleBase::apply(const std::function<void(ModuleBase&)>& f) {
  if (!f) fail("Module::apply", "the function is empty");
  // A module comes before its children, and later children before earlier ones, so that reading
  // from the end gives the order of apply.
  std::vector<ModuleBase*> all, waiting;
  waiting.push_back(this);
  while (!waiting.empty()) {
    all.push_back(waiting.back());
    waiting.pop_back();
    for (const auto& [name, child] : all.back()->named_children()) waiting.push_back(child);
  }
  for (auto module = all.rbegin(); module != all.rend(); ++module) f(**module);
}

void ModuleBase::to(DType dtype) {
  if (!is_floating(dtype)) fail<DTypeError>("Module::to", "modules are floating, got ", dtype);
  std::vector<std::pair<Ref<TensorImpl>, Array>> conversions;
  for (const PathTensor& each : without_repeats(path_tensors())) {
    const Tensor& tensor = each.tensor;
    if (!is_floating(tensor.dtype()) || tensor.dtype() == dtype) continue;
    if (!tensor.is_leaf()) fail<AutogradError>("Module::to", each.path, " has history; detach it");
    conversions.emplace_back(tensor.impl(), tensor.array().to(dtype));
  }
  for (auto& [tensor, elements] : conversions) {
    tensor->grad.reset();
    tensor->set_elements(std::move(elements));
  }
}

void ModuleBase::zero_grad() const {
  for (Tensor& parameter : collect(MemberKind::parameter)) parameter.zero_grad();
}

void ModuleBase::requires_grad_(Flag value) const {
  std::vector<Tensor> all = parameters();
  // What can fail comes before the first change.
  for (const Tensor& parameter : all) {
    Tensor same = parameter.detach();
    if (value) same.requires_grad_();
    if (!value && !parameter.is_leaf())
      fail<AutogradError>("requires_grad_", "a parameter with history requires grad; use detach()");
    parameter.impl()->gradient_slot();
  }
  for (Tensor& parameter : all) parameter.requires_grad_(value);
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
  return make_hooks().before.add("register_forward_pre_hook", std::move(hook));
}
HookHandle ModuleBase::register_forward_hook(ForwardHook hook) {
  return make_hooks().after.add("register_forward_hook", std::move(hook));
}
HookHandle ModuleBase::register_backward_hook(BackwardHook hook) {
  return make_hooks().backward.add("register_backward_hook", std::move(hook));
}

void ModuleBase::fail_hooks() const {
  fail("register_forward_hook", type_name(),
       "'s forward does not give a single tensor, or takes arguments that hooks cannot pass on");
}

std::size_t ModuleBase::checked_place(const char* list, std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < -count || index >= count)
    fail<IndexError>(list, "index ", index, " is out of range for a list of ", count);
  return static_cast<std::size_t>(index < 0 ? index + count : index);
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
  const NestedCall nested("repr");
  return tree_text();
}

std::string ModuleBase::tree_text() const {
  // In a ModuleList, neighbours that print alike are printed once: "(0-3): 4 x Block(...)".
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
  const std::string extra = extra_repr();
  std::string out = type_name() + "(";
  // Several lines stand below each other, as children do.
  const bool below = extra.find('\n') != std::string::npos;
  out += below ? "\n  " + indented(extra) : extra;
  for (const Line& line : lines) {
    out += line.count == 1 ? as_text("\n  (", line.first, "): ", indented(line.text))
                           : as_text("\n  (", line.first, '-', line.last, "): ", line.count, " x ",
                                     indented(line.text));
  }
  return out + (lines.empty() && !below ? ")" : "\n)");
}

std::ostream& operator<<(std::ostream& out, const ModuleBase& module) {
  return out << module.repr();
}

}  // namespace tend::nn
