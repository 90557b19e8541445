// Statements with hooks: some give another gradient, some act.
#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// Registers a hook for later backwards; `python` are the arguments of hook().
bool attach(LeafProgram& p, const Named& x, const std::string& python, TensorHook hook, bool acts) {
  if (p.hooks.size() > 5) return false;
  const std::string name = p.fresh('h');
  p.act(as_text(name, " = hook(", x.name, ", ", python, ")"), [&] {
    p.hooks.push_back({name, x.tensor.register_hook(std::move(hook)), acts});
  });
  return true;
}

// A leaf, or now and then another tensor with history.
Named hooked(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  return v && p.dice.chance(0.4) ? *v : p.leaf();
}

bool add_scale_hook(LeafProgram& p) {
  return attach(
      p, hooked(p), "'scale'", [](const Tensor& g) { return g * 2; }, false);
}

bool add_replace_hook(LeafProgram& p) {
  return attach(
      p, hooked(p), "'replace'", [](const Tensor& g) { return weights_like(g, 7); }, false);
}

bool add_count_hook(LeafProgram& p) {
  const Named counter = p.plain({}, int64);  // an operand of nothing
  return attach(
      p, hooked(p), as_text("'count', '", counter.name, "'"),
      [&p, name = counter.name](const Tensor&) {
        for (const Named& each : p.all()) {
          if (each.name == name) each.tensor.add_(1);
        }
        p.touched(name);
      },
      true);
}

// On a leaf, with what the leaf is called: it owns the hook, which must not own it.
bool attach_to_leaf(LeafProgram& p, const std::string& kind,
                    const std::function<void(Tensor)>& change) {
  const Named x = p.leaf();
  return attach(
      p, x, as_text("'", kind, "', '", x.name, "'"),
      [&p, name = x.name, change](const Tensor&) {
        const NoGradGuard guard;
        change(p.find(name));
        p.touched(name);
      },
      true);
}

bool add_zero_grad_hook(LeafProgram& p) {
  return attach_to_leaf(p, "zero_grad", [](Tensor x) { x.zero_grad(); });
}

bool add_set_grad_hook(LeafProgram& p) {
  return attach_to_leaf(p, "set_grad", [](Tensor x) { x.set_grad(weights_like(x, 8)); });
}

bool add_set_data_hook(LeafProgram& p) {
  return attach_to_leaf(p, "set_data", [](Tensor x) { x.set_data(weights_like(x, 9)); });
}

bool add_remove_hook(LeafProgram& p) {
  if (p.hooks.empty()) return false;
  const std::size_t which =
      static_cast<std::size_t>(p.dice.between(0, static_cast<std::int64_t>(p.hooks.size()) - 1));
  Hook hook = p.hooks[which];
  p.hooks.erase(p.hooks.begin() + static_cast<std::ptrdiff_t>(which));
  return p.act(hook.name + ".remove()", [&] { hook.handle.remove(); });
}

// A hook on the leaf of this name.
using Make = std::function<TensorHook(const std::string& leaf)>;

// For one backward only, since it makes that fail.
bool once(LeafProgram& p, const std::string& kind, const Make& make) {
  if (p.has_acting_hooks() || p.hooks.size() > 5) return false;
  const Named x = p.leaf(), y = p.leaf();
  if (!x.tensor.requires_grad() || x.tensor.dtype() != y.tensor.dtype()) return false;
  p.forget_dependents(x.name);
  p.clear_misfits();
  const std::string loss = p.fresh('v');
  p.act(as_text(loss, " = (", x.name, " * ", x.name, ").sum() + ", y.name, ".sum()"),
        [&] { p.bind(loss, (x.tensor * x.tensor).sum() + y.tensor.sum(), Role::value); });
  attach(p, x, as_text("'", kind, "', '", x.name, "'"), make(x.name), false);
  p.act(as_text("backward([", loss, "], [None], False, False)"), [&] { p.find(loss).backward(); });
  p.forget_graphs();
  Hook last = p.hooks.back();
  p.hooks.pop_back();
  return p.act(last.name + ".remove()", [&] { last.handle.remove(); });
}

bool add_throw_hook(LeafProgram& p) {
  return once(p, "throw", [](const std::string&) {
    return TensorHook([](const Tensor&) { throw HookError(); });
  });
}

bool add_wrong_shape_hook(LeafProgram& p) {
  return once(p, "wrong_shape", [](const std::string&) {
    return TensorHook([](const Tensor& g) { return stack({g, g}); });
  });
}

bool add_reshape_hook(LeafProgram& p) {
  return once(p, "unsqueeze_", [&p](const std::string& leaf) {
    return TensorHook([&p, leaf](const Tensor&) {
      const NoGradGuard guard;
      p.find(leaf).unsqueeze_(-1);
      p.touched(leaf);
    });
  });
}

bool add_other_data_hook(LeafProgram& p) {
  return once(p, "other_data", [&p](const std::string& leaf) {
    return TensorHook([&p, leaf](const Tensor&) {
      Tensor x = p.find(leaf);
      x.zero_grad();
      x.set_data(x.detach().unsqueeze(0).clone());
      p.touched(leaf);
    });
  });
}

}  // namespace

std::vector<LeafEntry> hook_entries() {
  return {{"hook that scales", add_scale_hook},
          {"hook that replaces", add_replace_hook},
          {"hook that writes to a tensor", add_count_hook},
          {"hook that calls zero_grad", add_zero_grad_hook},
          {"hook that calls set_grad", add_set_grad_hook},
          {"hook that calls set_data", add_set_data_hook},
          {"hook removed", add_remove_hook, 3},
          {"hook that throws", add_throw_hook},
          {"hook that gives another shape", add_wrong_shape_hook},
          {"hook that reshapes its leaf", add_reshape_hook},
          {"hook that gives its leaf another shape of data", add_other_data_hook}};
}

}  // namespace fuzz
