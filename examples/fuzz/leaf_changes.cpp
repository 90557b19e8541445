// Statements that make a leaf another one: its shape, dtype, elements, or part in the graph.
#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// PyTorch's graph keeps the shape that a leaf had when it was first used, so that no graph is to
// outlive the change.
bool reshape(LeafProgram& p, const Named& x, const std::string& call,
             const std::function<void()>& f) {
  p.forget_dependents(x.name);
  constexpr Mode kModes[] = {Mode::no_grad, Mode::no_grad, Mode::no_grad, Mode::inference};
  p.act(as_text(x.name, call), f, {p.dice.of(kModes)});
  return true;
}

bool add_t(LeafProgram& p) {
  const Named x = p.leaf();
  if (x.tensor.dim() < 1) return false;
  return reshape(p, x, ".t_()", [&] { x.tensor.t_(); });  // which refuses three dimensions
}

bool add_transpose(LeafProgram& p) {
  const Named x = p.leaf();
  const std::int64_t rank = x.tensor.dim();
  if (rank < 2) return false;
  const std::int64_t a = p.dice.between(-rank, rank - 1), b = p.dice.between(-rank, rank - 1);
  if (p.dice.chance(0.5))
    return reshape(p, x, as_text(".transpose_(", a, ", ", b, ")"),
                   [&] { x.tensor.transpose_(a, b); });
  return reshape(p, x, as_text(".swapaxes_(", a, ", ", b, ")"), [&] { x.tensor.swapaxes_(a, b); });
}

bool add_unsqueeze(LeafProgram& p) {
  const Named x = p.leaf();
  if (x.tensor.dim() > 2) return false;
  const std::int64_t d = p.dice.between(-x.tensor.dim() - 1, x.tensor.dim());
  return reshape(p, x, as_text(".unsqueeze_(", d, ")"), [&] { x.tensor.unsqueeze_(d); });
}

bool add_squeeze(LeafProgram& p) {
  const Named x = p.leaf();
  if (x.tensor.dim() == 0) return false;
  if (p.dice.chance(0.5)) return reshape(p, x, ".squeeze_()", [&] { x.tensor.squeeze_(); });
  const std::int64_t d = p.dice.between(0, x.tensor.dim() - 1);
  return reshape(p, x, as_text(".squeeze_(", d, ")"), [&] { x.tensor.squeeze_(d); });
}

bool set_data(LeafProgram& p, const Named& x, const Shape& shape, DType dtype) {
  // A graph of PyTorch's would read the new elements, one of tend's the old ones.
  p.forget_dependents(x.name);
  const Named data = p.plain(shape, dtype);
  p.act(as_text("set_data(", x.name, ", ", data.name, ".clone())"),
        [&] { Tensor(x.tensor).set_data(data.tensor.clone()); });
  return true;
}

bool add_new_elements(LeafProgram& p) {
  const Named x = p.leaf();
  return set_data(p, x, x.tensor.shape(), x.tensor.dtype());
}

bool add_new_shape(LeafProgram& p) {
  const Named x = p.leaf();
  Shape shape = x.tensor.shape();
  if (shape.empty() || p.dice.chance(0.3)) {
    shape = {p.dice.between(1, 3)};
  } else {
    shape[p.dice.between(0, shape.rank() - 1)] = p.dice.between(1, 3);
  }
  return set_data(p, x, shape, x.tensor.dtype());
}

bool add_new_dtype(LeafProgram& p) {
  const Named x = p.leaf();
  return set_data(p, x, x.tensor.shape(), x.tensor.dtype() == float64 ? float32 : float64);
}

bool add_module_to(LeafProgram& p) {
  if (p.modules.empty()) return false;
  auto& entry = p.modules[static_cast<std::size_t>(
      p.dice.between(0, static_cast<std::int64_t>(p.modules.size()) - 1))];
  const std::string& name = entry.first;
  nn::Linear& module = entry.second;
  p.forget_dependents(name + "w");
  p.forget_dependents(name + "b");
  const DType dtype = module.weight.dtype() == float64 ? float32 : float64;
  p.act(as_text("module_to(", name, ", ", dtype_text(dtype), ")"), [&] { module.to(dtype); });
  return true;
}

bool add_freeze(LeafProgram& p) {
  const Named x = p.leaf();
  const bool value = !x.tensor.requires_grad() || p.dice.chance(0.2);
  // In PyTorch a view says that it requires grad as soon as its base does, and one with a history
  // cannot be written.
  p.forget_views(x.name);
  p.act(as_text(x.name, ".requires_grad_(", value ? "True" : "False", ")"),
        [&] { Tensor(x.tensor).requires_grad_(value); });
  return true;
}

bool add_detach(LeafProgram& p) {
  const Named x = p.dice.chance(0.5) ? p.leaf() : p.real();
  // PyTorch refuses views of what has no history, too.
  if (x.role != Role::leaf && !x.tensor.requires_grad()) return false;
  if (x.role == Role::leaf) {
    p.forget_views(x.name);
  } else {
    p.forget_dependents(x.name);  // PyTorch cannot use what it saved of it any more
  }
  p.act(x.name + ".detach_()", [&] { x.tensor.detach_(); });
  return true;
}

}  // namespace

std::vector<LeafEntry> leaf_entries() {
  return {{"t_ of a leaf", add_t, 2},
          {"transpose_ and swapaxes_ of a leaf", add_transpose, 2},
          {"unsqueeze_ of a leaf", add_unsqueeze},
          {"squeeze_ of a leaf", add_squeeze},
          {"set_data of other elements", add_new_elements},
          {"set_data of another shape", add_new_shape},
          {"set_data of another dtype", add_new_dtype},
          {"Module.to", add_module_to},
          {"requires_grad_", add_freeze, 2},
          {"detach_", add_detach}};
}

}  // namespace fuzz
