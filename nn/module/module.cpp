#include <tend/nn/module/module.h>

#include <algorithm>
#include <ostream>
#include <unordered_map>
#include <unordered_set>

#include <tend/autograd/tensor/grad_mode.h>
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

void ModuleBase::check_class(const std::type_info& declared) const {
  if (typeid(*this) != declared)
    fail(type_name(),
         "must not be derived from another module class, whose forward and clone it would inherit. "
         "Derive it from nn::Module<",
         type_name(), "> and make the other module a member");
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

// The parameters of each module, then its buffers, in PyTorch's order.
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

namespace {

/// Recognises tensors that it has seen before.
class Known {
 public:
  bool adds(const Tensor& tensor) { return seen_.insert(tensor.impl().get()).second; }

 private:
  std::unordered_set<const TensorImpl*> seen_;
};

}  // namespace

std::vector<std::pair<std::string, Tensor>> ModuleBase::named(MemberKind kind) const {
  std::vector<std::pair<std::string, Tensor>> tensors;
  Known known;
  for (PathTensor& each : path_tensors()) {
    if (each.kind == kind && known.adds(each.tensor))
      tensors.emplace_back(std::move(each.path), std::move(each.tensor));
  }
  return tensors;
}

std::vector<std::pair<std::string, Tensor>> ModuleBase::named_parameters() const {
  for (const ModuleBase* module : modules()) module->listed_ = true;
  return named(MemberKind::parameter);
}
std::vector<std::pair<std::string, Tensor>> ModuleBase::named_buffers() const {
  return named(MemberKind::buffer);
}

// Like named(), but builds no names, to save time: training calls this at every step.
std::vector<Tensor> ModuleBase::collect(MemberKind kind) const {
  std::vector<Tensor> tensors;
  Known known;
  for (ModuleBase* module : modules()) {
    module->each_tensor([&](const OwnTensor& own) {
      if (own.kind == kind && own.tensor.defined() && known.adds(own.tensor))
        tensors.push_back(own.tensor);
    });
  }
  return tensors;
}

std::vector<Tensor> ModuleBase::parameters() const {
  for (const ModuleBase* module : modules()) module->listed_ = true;
  return collect(MemberKind::parameter);
}
std::vector<Tensor> ModuleBase::buffers() const {
  return collect(MemberKind::buffer);
}

void ModuleBase::train(Flag mode) {
  for (ModuleBase* module : modules()) module->training_ = mode;
}

void ModuleBase::apply(const std::function<void(ModuleBase&)>& f) {
  if (!f) fail("Module::apply", "the function is empty");
  const NestedCall nested("Module::apply");
  for (const auto& [name, child] : named_children()) child->apply(f);
  f(*this);
}

void ModuleBase::to(DType dtype) {
  if (!is_floating(dtype)) fail<DTypeError>("Module::to", "needs a floating dtype, got ", dtype);
  std::vector<Tensor> others;
  for (const PathTensor& each : path_tensors()) {
    const Tensor& tensor = each.tensor;
    if (!is_floating(tensor.dtype()) || tensor.dtype() == dtype) continue;
    if (!tensor.is_leaf()) fail<AutogradError>("Module::to", each.path, " has history; detach it");
    others.push_back(tensor);
  }
  for (Tensor& each : others) {
    each.zero_grad();
    each.set_data(Tensor(each.array().to(dtype)));
  }
}

void ModuleBase::zero_grad() const {
  for (Tensor& parameter : collect(MemberKind::parameter)) parameter.zero_grad();
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
       " has hooks, so its forward must return a single tensor, and accept tensors as const "
       "Tensor& and other arguments as lvalues");
}

std::size_t ModuleBase::checked_index(const char* list, std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < -count || index >= count)
    fail<IndexError>(list, "index ", index, " is out of range for a list of ", count);
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

void ModuleBase::check_name(const char* operation, std::string_view name) {
  if (name.empty() || name.find('.') != std::string_view::npos)
    fail(operation, "\"", name, "\" is not a valid name: it is empty or has a dot");
  bool taken = false;
  each_tensor([&](const OwnTensor& own) { taken = taken || own.name == name; });
  for (const auto& [child, module] : named_children()) taken = taken || child == name;
  if (taken) fail(operation, type_name(), " has a member ", name, " already");
}

void ModuleBase::add_extra(const char* operation, const std::string& name, Extra extra) {
  check_name(operation, name);
  extra.name = name;
  extras_.push_back(std::move(extra));
}

Parameter ModuleBase::register_parameter(const std::string& name, Parameter parameter) {
  add_extra("register_parameter", name, {{}, MemberKind::parameter, true, parameter, {}});
  return parameter;
}

Tensor ModuleBase::register_buffer(const std::string& name, Tensor buffer,
                                   const BufferOptions& options) {
  add_extra("register_buffer", name, {{}, MemberKind::buffer, options.persistent, buffer, {}});
  return buffer;
}

ModuleBase& ModuleBase::get_submodule(std::string_view path) {
  for (const auto& [name, module] : named_modules()) {
    if (name == path) return *module;
  }
  fail("get_submodule", type_name(), " has no module ", path);
}

Tensor ModuleBase::get_parameter(std::string_view path) const {
  for (const PathTensor& each : path_tensors()) {
    if (each.kind == MemberKind::parameter && each.path == path) return each.tensor;
  }
  fail("get_parameter", type_name(), " has no parameter ", path);
}

Tensor ModuleBase::get_buffer(std::string_view path) const {
  for (const PathTensor& each : path_tensors()) {
    if (each.kind == MemberKind::buffer && each.path == path) return each.tensor;
  }
  fail("get_buffer", type_name(), " has no buffer ", path);
}

namespace {

Tensor copy_of(const std::string& name, const Tensor& tensor) {
  if (!tensor.is_leaf()) fail<AutogradError>("clone", name, " has history; detach it");
  Tensor copy(tensor.array().clone());
  copy.requires_grad_(tensor.requires_grad());
  copy.impl()->is_parameter = tensor.impl()->is_parameter;
  return copy;
}

}  // namespace

void ModuleBase::own_tensors() {
  std::unordered_map<const TensorImpl*, Tensor> copies;
  const auto tree = named_modules();
  for (const PathTensor& each : path_tensors()) {
    Tensor& copy = copies[each.tensor.impl().get()];
    if (!copy.defined()) copy = copy_of(each.path, each.tensor);
  }
  const auto replace = [&](Tensor& tensor) {
    if (!tensor.defined()) return;
    const auto copy = copies.find(tensor.impl().get());
    if (copy != copies.end()) tensor = copy->second;
  };
  for (const auto& [path, module] : tree) {
    module->each_tensor([&](const OwnTensor& own) { replace(own.tensor); });
    // Also replaces unregistered Parameter members that share a registered parameter.
    for (const LiveObject* each : live_within(module->own_bytes())) {
      if (each->live_kind() == LiveKind::parameter)
        replace(const_cast<Parameter&>(static_cast<const Parameter&>(*each)));
    }
    if (!module->hooks_) continue;
    module->hooks_ = std::make_shared<ModuleHooks>(*module->hooks_);
    module->hooks_->separate();
  }
}

namespace {

[[noreturn]] void fail_unregistered(const std::string& owner, const ModuleBase& member) {
  const std::string type = member.type_name();
  fail(owner, "its member of class ", type, " is not registered, so nothing trains or saves it. ",
       "Declare it as TEND_MODULE(", type, ", name)");
}

[[noreturn]] void fail_unregistered(const std::string& owner, const Parameter& member) {
  fail(owner, "its member Parameter of shape ", member.shape(),
       " is not registered, so nothing trains or saves it. Declare it as TEND_PARAMETER(name)");
}

[[noreturn]] void fail_unknown(const ModuleBase& module) {
  const std::string type = module.type_name();
  fail(CallScope::current_path(), "the module that calls this ", type,
       " has no registered member for it, so nothing trains or saves the ", type,
       ". Declare a member TEND_MODULE(", type,
       ", name) or, instead of a std::vector, TEND_MODULE(ModuleList<", type, ">, name)");
}

}  // namespace

bool ModuleBase::is_unknown_to(const ModuleBase& root) const {
  if (&root == this || listed_) return false;
  const std::vector<Tensor> own = collect(MemberKind::parameter);
  const auto is_trained = [](const Tensor& parameter) { return parameter.requires_grad(); };
  if (std::none_of(own.begin(), own.end(), is_trained)) return false;
  const std::vector<ModuleBase*> tree = root.modules();
  return std::find(tree.begin(), tree.end(), this) == tree.end();
}

void ModuleBase::find_unregistered(const ModuleScope& scope) const {
  const bool is_unknown = is_unknown_to(scope.root());
  if (is_unknown && grad_enabled()) fail_unknown(*this);
  const auto tree = self().named_modules();
  for (const auto& [path, module] : tree) module->check_class(module->called_class());
  std::unordered_set<const LiveObject*> modules;
  std::unordered_set<const TensorImpl*> parameters;
  for (const auto& [path, module] : tree) modules.insert(module);
  for (const Tensor& each : collect(MemberKind::parameter)) parameters.insert(each.impl().get());
  const auto is_registered = [&](const LiveObject* object) {
    if (object->live_kind() == LiveKind::module) return modules.contains(object);
    const auto& parameter = static_cast<const Parameter&>(*object);
    // A second handle on a registered parameter is allowed.
    return !parameter.defined() || !parameter.requires_grad() ||
           parameters.contains(parameter.impl().get());
  };
  // Children come first, so that the error names the innermost module.
  for (auto at = tree.rbegin(); at != tree.rend(); ++at) {
    const auto& [path, module] = *at;
    std::vector<const LiveObject*> found = live_within(module->own_bytes());
    std::erase_if(found, is_registered);
    if (found.empty()) continue;
    const std::string own = CallScope::current_path();
    const std::string owner = path.empty() ? own : as_text(own, '.', path);
    // An unregistered module comes before its own members, since its address is lower.
    const LiveObject* first = found.front();
    if (first->live_kind() == LiveKind::module)
      fail_unregistered(owner, static_cast<const ModuleBase&>(*first));
    fail_unregistered(owner, static_cast<const Parameter&>(*first));
  }
  if (is_unknown) return;  // not marked as checked: a later call that records a graph must fail
  for (const auto& [path, module] : tree) module->checked_ = true;
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
  // In a ModuleList, neighbours with the same text are printed once: "(0-3): 4 x Block(...)".
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
  // An extra_repr of several lines is printed below the name, as children are.
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
