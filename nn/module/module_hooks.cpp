#include <tend/nn/module/module_hooks.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tools/function.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

void ModuleHooks::separate() {
  before.separate();
  after.separate();
  backward.separate();
}

bool ModuleHooks::empty() const noexcept {
  return before.empty() && after.empty() && backward.empty();
}

namespace {

// The path from `root` to `wanted`, or nullopt if `wanted` is not below `root`. The search goes
// level by level, since a module mostly calls its direct children.
std::optional<std::string> name_below(ModuleBase& root, const ModuleBase& wanted) {
  if (&root == &wanted) return "";
  std::vector<std::pair<std::string, ModuleBase*>> level = root.named_children(), next;
  while (!level.empty()) {
    for (const auto& [name, module] : level) {
      if (module == &wanted) return name;
    }
    next.clear();
    for (const auto& [name, module] : level) {
      for (const auto& [child, inner] : module->named_children())
        next.emplace_back(as_text(name, '.', child), inner);
    }
    std::swap(level, next);
  }
  return std::nullopt;
}

}  // namespace

std::string ModuleScope::path() const {
  if (outer() == nullptr) return module_.type_name();
  std::string path = outer()->path();
  const auto* owner = dynamic_cast<const ModuleScope*>(outer());
  if (owner != nullptr) {
    const auto name = name_below(const_cast<ModuleBase&>(owner->module_), module_);
    if (name) return name->empty() ? path : as_text(path, '.', *name);
  }
  return as_text(path, " > ", module_.type_name());
}

namespace {

constexpr std::string_view kPathBegin = " (in ";

bool has_path(std::string_view text) {
  return text.ends_with(')') && text.rfind(kPathBegin) != std::string_view::npos;
}

}  // namespace

const ModuleBase& ModuleScope::root() const {
  const auto* around = dynamic_cast<const ModuleScope*>(outer());
  return around != nullptr ? around->root() : module_;
}

void ModuleScope::rethrow_with_path(const Error& error) const {
  if (outer() != nullptr && !has_path(error.what()))
    throw_alike(error, as_text(error.what(), kPathBegin, path(), ')'));
  throw;
}

namespace {

// The backward hooks of one call of a module. In the backward, autograd::walk_note() stores the
// gradient of the call's result under this list's address until the gradients of the inputs arrive.
using BackwardHooks = std::shared_ptr<const HookList<BackwardHook>>;

// Checks that a hook left one gradient for each argument, with the argument's shape and dtype.
void check_replaced(const std::vector<Tensor>& left, const std::vector<Tensor>& arguments) {
  constexpr const char* operation = "register_backward_hook";
  if (left.size() != arguments.size()) {
    fail<AutogradError>(operation, "a hook must leave one gradient for each of the ",
                        arguments.size(), " arguments, but left ", left.size());
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i].defined()) continue;
    if (left[i].shape() != arguments[i].shape()) {
      fail<ShapeError>(operation, "the gradient of argument ", i, " must have shape ",
                       arguments[i].shape(), ", but a hook left ", left[i].shape());
    }
    if (left[i].dtype() != arguments[i].dtype()) {
      fail<DTypeError>(operation, "the gradient of argument ", i, " must be ", arguments[i].dtype(),
                       ", but a hook left ", left[i].dtype());
    }
  }
}

// Returns copies of the inputs that come from one common node of the graph. In the backward, the
// gradients of all inputs arrive at that node together, and the node runs the hooks.
std::vector<Tensor> watch_inputs(const BackwardHooks& hooks, std::vector<Tensor> inputs) {
  const autograd::CustomFunction watch{
      "BackwardHookFunctionBackward",
      [](autograd::FunctionContext&, const std::vector<Tensor>& x) { return x; },
      [hooks](const autograd::FunctionContext& context, const std::vector<Tensor>& grads) {
        const Tensor grad_output = std::exchange(autograd::walk_note(hooks.get()), {});
        // In a double backward, gradients may reach the inputs without passing the module's result,
        // through tensors that the first derivative saved. PyTorch's hooks do not run then, either.
        if (!grad_output.defined()) return grads;
        std::vector<Tensor> grad_inputs = grads;
        for (std::size_t i = 0; i < grads.size(); ++i) {
          if (!context.needs_input_grad(i)) grad_inputs[i] = Tensor();
        }
        hooks->for_each([&](const BackwardHook& hook) {
          hook(grad_inputs, grad_output);
          check_replaced(grad_inputs, grads);
        });
        return grad_inputs;
      }};
  std::vector<Tensor> defined = inputs;
  std::erase_if(defined, [](const Tensor& input) { return !input.defined(); });
  defined = watch(defined);
  auto watched = defined.begin();
  for (Tensor& input : inputs) {
    if (input.defined()) input = *watched++;
  }
  return inputs;
}

using Versions = std::vector<std::uint64_t>;

Versions versions_of(const std::vector<Tensor>& tensors) {
  Versions versions;
  for (const Tensor& each : tensors)
    versions.push_back(each.defined() ? each.array().storage()->version() : 0);
  return versions;
}

// Returns the output with a node of the graph that stores the output's gradient in the backward. If
// no input requires grad, this node runs the hooks.
Tensor watch_output(const BackwardHooks& hooks, const Tensor& output, bool has_inputs) {
  return record_view(
      "BackwardHookFunctionBackward", output, output.array(),
      [hooks, has_inputs](Derivative& d) {
        d.set(0, d.grad());
        if (has_inputs) {
          autograd::walk_note(hooks.get()) = d.grad();
          return;
        }
        std::vector<Tensor> none;
        hooks->for_each([&](const BackwardHook& hook) {
          hook(none, d.grad());
          if (std::any_of(none.begin(), none.end(), [](const Tensor& t) { return t.defined(); }))
            fail<AutogradError>("register_backward_hook",
                                "a hook must not leave gradients if no argument requires grad");
        });
      },
      "backward_hook");
}

}  // namespace

Tensor call_with_hooks(const ModuleBase& module, const ModuleHooks& hooks,
                       std::vector<Tensor> inputs,
                       FunctionRef<Tensor(const std::vector<Tensor>&)> forward) {
  const std::size_t count = inputs.size();
  hooks.before.for_each([&](const ForwardPreHook& hook) { hook(module, inputs); });
  if (inputs.size() != count) {
    fail("register_forward_pre_hook", "a hook of ", module.type_name(), " must leave ", count,
         " inputs, but left ", inputs.size());
  }
  BackwardHooks backward;
  const bool has_inputs = tracks(std::vector<TensorRef>(inputs.begin(), inputs.end()));
  if (!hooks.backward.empty() && grad_enabled()) {
    HookList<BackwardHook> as_of_now = hooks.backward;
    as_of_now.separate();
    backward = std::make_shared<const HookList<BackwardHook>>(std::move(as_of_now));
    if (has_inputs) inputs = watch_inputs(backward, inputs);
  }
  const auto versions = backward && has_inputs ? versions_of(inputs) : Versions();
  Tensor output = forward(inputs);
  hooks.after.for_each([&](const ForwardHook& hook) { hook(module, inputs, output); });
  if (!backward) return output;
  // `inputs` are copies of the arguments, so the caller would not see a write into one of them.
  // PyTorch throws here, too.
  if (has_inputs && versions_of(inputs) != versions) {
    fail<AutogradError>("register_backward_hook", module.type_name(),
                        " has a backward hook, so neither its forward nor a hook may change an "
                        "argument in place");
  }
  return output.requires_grad() ? watch_output(backward, output, has_inputs) : output;
}

}  // namespace tend::nn
