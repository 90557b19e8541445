// Statements that compute: few operations, of which PyTorch's save the same tensors as tend's.
#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

constexpr double kGuarded = 0.08;  // chance of a mode around a statement

bool add_binary(LeafProgram& p) {
  const Named x = p.real(), y = p.partner(x);
  if (p.dice.chance(0.5)) {
    p.define(
        Role::value, as_text(x.name, " * ", y.name), [&] { return x.tensor * y.tensor; },
        p.some_modes(kGuarded));
  } else {
    p.define(
        Role::value, as_text(x.name, " - 0.5 * ", y.name),
        [&] { return x.tensor - 0.5 * y.tensor; }, p.some_modes(kGuarded));
  }
  return true;
}

bool add_function(LeafProgram& p) {
  const Named x = p.real();
  if (p.dice.chance(0.5)) {
    p.define(
        Role::value, as_text("torch.tanh(", x.name, ")"), [&] { return tanh(x.tensor); },
        p.some_modes(kGuarded));
  } else {
    p.define(
        Role::value, as_text("torch.sin(", x.name, ")"), [&] { return sin(x.tensor); },
        p.some_modes(kGuarded));
  }
  return true;
}

bool add_reduction(LeafProgram& p) {
  const Named x = p.real();
  if (p.dice.chance(0.5)) {
    p.define(Role::value, x.name + ".sum()", [&] { return x.tensor.sum(); });
  } else if (x.tensor.dim() == 0) {
    return false;
  } else {
    const std::int64_t d = p.dice.between(0, x.tensor.dim() - 1);
    p.define(Role::value, as_text(x.name, ".sum(", d, ")"), [&] { return x.tensor.sum(d); });
  }
  return true;
}

bool add_matmul(LeafProgram& p) {
  const Named x = p.real();
  if (x.tensor.dim() != 2) return false;
  const Named y = p.plain({x.tensor.size(1), 2}, x.tensor.dtype());
  return p.define(Role::value, as_text(x.name, " @ ", y.name),
                  [&] { return matmul(x.tensor, y.tensor); });
}

// A graph of its own from the leaves to one number.
bool add_loss(LeafProgram& p) {
  const Named x = p.leaf(), y = p.leaf();
  if (x.tensor.dtype() != y.tensor.dtype()) return false;
  return p.define(Role::value, as_text("(", x.name, " * ", x.name, ").sum() + ", y.name, ".sum()"),
                  [&] { return (x.tensor * x.tensor).sum() + y.tensor.sum(); });
}

bool add_view(LeafProgram& p) {
  const Named x = p.real();
  const std::int64_t rank = x.tensor.dim();
  if (rank == 0 || x.tensor.size(0) == 0) return false;
  // In PyTorch a view that was made without grad mode says that it requires grad when its base
  // does.
  const Modes modes = x.tensor.requires_grad() ? Modes{} : p.some_modes(kGuarded);
  switch (p.dice.between(0, 3)) {
    case 0: {
      const std::int64_t row = p.dice.between(0, x.tensor.size(0) - 1);
      return p.define(
          Role::value, as_text(x.name, "[", row, "]"), [&] { return Tensor(x.tensor[row]); },
          modes);
    }
    case 1:
      return p.define(
          Role::value, x.name + ".transpose(0, -1)", [&] { return x.tensor.transpose(0, -1); },
          modes);
    case 2:
      return p.define(
          Role::value, as_text(x.name, ".narrow(0, 0, 1)"),
          [&] { return x.tensor.narrow(0, 0, 1); }, modes);
    default:
      return rank > 1 && p.define(
                             Role::value, x.name + ".diagonal(0, 0, 1)",
                             [&] { return x.tensor.diagonal(0, 0, 1); }, modes);
  }
}

bool add_expand(LeafProgram& p) {
  const Named x = p.real();
  if (x.tensor.dim() > 2) return false;
  Shape sizes{2};
  for (const std::int64_t size : x.tensor.shape()) sizes.push_back(size);
  return p.define(Role::value, as_text(x.name, ".expand(", tuple(sizes), ")"),
                  [&] { return x.tensor.expand(sizes); });
}

bool add_copy(LeafProgram& p) {
  const Named x = p.real();
  if (p.dice.chance(0.5))
    return p.define(Role::value, x.name + ".clone()", [&] { return x.tensor.clone(); });
  return p.define(Role::plain, x.name + ".detach().clone()",
                  [&] { return x.tensor.detach().clone(); });
}

// The same elements, which writes to either change.
bool add_detached(LeafProgram& p) {
  const Named x = p.real();
  return p.define(Role::plain, x.name + ".detach()", [&] { return x.tensor.detach(); });
}

bool add_retained(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  if (!v) return false;
  return p.act(v->name + ".retain_grad()", [&] { Tensor(v->tensor).retain_grad(); });
}

// Modules: a linear layer, whose parameters are leaves.
bool add_module(LeafProgram& p) {
  if (p.modules.size() == 2) return false;
  const std::int64_t in = p.dice.between(1, 3), out = p.dice.between(1, 3);
  const std::string name = p.fresh('m');
  return p.act(as_text(name, " = linear(", in, ", ", out, ")"), [&] {
    nn::Linear& module = p.modules.emplace_back(name, nn::Linear(in, out)).second;
    module.to(float64);
    module.weight.set_data(weights_like(module.weight, 1));
    module.bias.set_data(weights_like(module.bias, 2));
  }) && p.act(name + "w = " + name + ".weight", [&] {
    p.bind(name + "w", p.modules.back().second.weight, Role::leaf);
  }) && p.act(name + "b = " + name + ".bias", [&] {
    p.bind(name + "b", p.modules.back().second.bias, Role::leaf);
  });
}

bool add_layer(LeafProgram& p) {
  if (p.modules.empty()) return false;
  const auto& entry = p.dice.of(p.modules);
  const nn::Linear& module = entry.second;
  if (module.weight.dim() != 2 || module.bias.dim() != 1) return false;
  const Named x = p.plain({2, module.weight.size(1)}, module.weight.dtype());
  if (module.bias.size(0) != module.weight.size(0)) return false;
  if (module.bias.dtype() != module.weight.dtype()) return false;
  return p.define(Role::value, as_text(entry.first, "(", x.name, ")"),
                  [&] { return module.forward(x.tensor); });
}

}  // namespace

std::vector<LeafEntry> forward_entries() {
  return {{"operation of two", add_binary, 6},
          {"function", add_function, 3},
          {"reduction", add_reduction, 3},
          {"matmul", add_matmul, 2},
          {"loss of two leaves", add_loss, 5},
          {"view", add_view, 4},
          {"expand", add_expand},
          {"copy", add_copy},
          {"detach", add_detached},
          {"retain_grad", add_retained, 2},
          {"module", add_module},
          {"forward of a module", add_layer, 2}};
}

}  // namespace fuzz
