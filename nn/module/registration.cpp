// What modules get a name for at run time, and what is found by its path.
#include <algorithm>

#include <tend/core/base/nested_call.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

ModuleBase::ModuleBase(const ModuleBase& other)
    : LiveObject(other),
      entries_(other.entries_),
      extras_(other.extras_),
      hooks_(other.hooks_),
      training_(other.training_),
      checked_(other.checked_) {}

int ModuleBase::check_depth(const char* operation, ModuleBase& module) {
  const int depth = 1 + module.depth();
  if (depth > kMaxDepth)
    fail(operation, "modules stand in one another ", depth, " deep, more than ", kMaxDepth);
  return depth;
}

void ModuleBase::check_name(const char* operation, std::string_view name) {
  if (name.empty() || name.find('.') != std::string_view::npos)
    fail(operation, "\"", name, "\" is no name: it is empty or has a dot");
  bool taken = false;
  each_tensor([&](const OwnTensor& own) { taken = taken || own.name == name; });
  for (const auto& [child, module] : named_children()) taken = taken || child == name;
  if (taken) fail(operation, type_name(), " has a member ", name, " already");
}

void ModuleBase::check_next(const char* operation, std::size_t size) const {
  const std::string name = std::to_string(size);
  for (const Extra& extra : extras_)
    if (extra.name == name) fail(operation, type_name(), " has a member ", name, " already");
}

void ModuleBase::check_idle(const char* operation) const {
  const ModuleBase* running = ModuleScope::running_in(*this);
  if (running != nullptr) fail_change(operation, *running);
}

void ModuleBase::fail_change(const char* operation, const ModuleBase& running) {
  fail(operation, "cannot change while ", running.type_name(), " in it is called");
}

int ModuleBase::registered_depth() {
  int deepest = 0;
  const NestedCall nested("depth");
  for (Extra& extra : extras_)
    if (extra.module) deepest = std::max(deepest, extra.module->module().depth());
  return deepest + 1;
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

}  // namespace tend::nn
