// Statements that fail here and in PyTorch. The program goes on after them.
#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

bool add_set_grad_shape(LeafProgram& p) {
  const Named x = p.leaf();
  Shape shape = x.tensor.shape();
  shape.push_back(2);
  const Named g = p.plain(shape, x.tensor.dtype());
  p.act(as_text(x.name, ".grad = ", g.name), [&] { Tensor(x.tensor).set_grad(g.tensor); });
  return true;
}

bool add_set_grad_dtype(LeafProgram& p) {
  const Named x = p.leaf();
  const Named g = p.plain(x.tensor.shape(), x.tensor.dtype() == float64 ? float32 : float64);
  p.act(as_text(x.name, ".grad = ", g.name), [&] { Tensor(x.tensor).set_grad(g.tensor); });
  return true;
}

bool add_set_grad_self(LeafProgram& p) {
  const Named x = p.leaf();
  p.act(as_text(x.name, ".grad = ", x.name), [&] { Tensor(x.tensor).set_grad(x.tensor); });
  return true;
}

bool add_set_data_integers(LeafProgram& p) {
  const Named x = p.leaf();
  if (!x.tensor.requires_grad()) return false;
  p.forget_dependents(x.name);
  const Named data = p.plain(x.tensor.shape(), int64);
  p.act(as_text("set_data(", x.name, ", ", data.name, ".clone())"),
        [&] { Tensor(x.tensor).set_data(data.tensor.clone()); });
  return true;
}

bool add_broadcast(LeafProgram& p) {
  const Named x = p.real();
  if (x.tensor.dim() == 0) return false;
  const Named y = p.plain({x.tensor.size(-1) + 2}, x.tensor.dtype());
  if (x.tensor.size(-1) == 1) return false;
  p.define(Role::value, as_text(x.name, " * ", y.name), [&] { return x.tensor * y.tensor; });
  return true;
}

bool add_write_shape(LeafProgram& p) {
  const Named x = p.leaf();
  Shape shape = x.tensor.shape();
  shape.insert(0, 2);
  const Named y = p.plain(shape, x.tensor.dtype());
  p.act(as_text(x.name, ".add_(", y.name, ")"), [&] { x.tensor.add_(y.tensor); }, {Mode::no_grad});
  return true;
}

bool add_unguarded(LeafProgram& p) {
  const Named x = p.leaf();
  if (!x.tensor.requires_grad()) return false;
  if (p.dice.chance(0.5)) {
    p.act(x.name + ".unsqueeze_(0)", [&] { x.tensor.unsqueeze_(0); });
  } else {
    p.act(x.name + ".mul_(2)", [&] { x.tensor.mul_(2); }, {Mode::no_grad, Mode::enable_grad});
  }
  return true;
}

bool add_dimension(LeafProgram& p) {
  const Named x = p.leaf();
  p.forget_dependents(x.name);
  p.act(x.name + ".transpose_(0, 7)", [&] { x.tensor.transpose_(0, 7); }, {Mode::no_grad});
  return true;
}

bool add_cotangent(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  if (!v) return false;
  Shape shape = v->tensor.shape();
  shape.push_back(2);
  const Named g = p.plain(shape, v->tensor.dtype());
  p.act(as_text("backward([", v->name, "], [", g.name, "], False, False)"),
        [&] { v->tensor.backward(g.tensor); });
  return true;
}

bool add_no_cotangent(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  if (!v || v->tensor.numel() == 1) return false;
  p.act(as_text("backward([", v->name, "], [None], False, False)"), [&] { v->tensor.backward(); });
  return true;
}

bool add_no_graph(LeafProgram& p) {
  const Named b = p.plain({}, float64);
  p.act(as_text("backward([", b.name, "], [None], False, False)"), [&] { b.tensor.backward(); });
  p.act(b.name + ".retain_grad()", [&] { Tensor(b.tensor).retain_grad(); });
  return true;
}

bool add_freeze_value(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  if (!v) return false;
  p.act(v->name + ".requires_grad_(False)", [&] { Tensor(v->tensor).requires_grad_(false); });
  return true;
}

bool add_integer_gradient(LeafProgram& p) {
  const Named b = p.plain({2}, int64);
  p.act(b.name + ".requires_grad_()", [&] { Tensor(b.tensor).requires_grad_(); });
  return true;
}

bool add_inference(LeafProgram& p) {
  const Named x = p.real();
  const std::string name = p.fresh('v');
  p.act(as_text(name, " = ", x.name, " * 2"), [&] { p.bind(name, x.tensor * 2, Role::value); },
        {Mode::inference});
  p.act(name + ".mul_(2)", [&] { p.find(name).mul_(2); });
  p.act(name + ".requires_grad_()", [&] { p.find(name).requires_grad_(); });
  return true;
}

bool add_options(LeafProgram& p) {
  const Named x = p.leaf();
  const std::string name = p.fresh('o');
  p.act(as_text(name, " = optimizer('SGD', [([", x.name, "], dict(lr=-1.0))])"), [&] {
    p.trainers.push_back({name, optim::SGD({x.tensor}, {.lr = -1})});
  });
  return true;
}

}  // namespace

std::vector<LeafEntry> mistake_entries() {
  return {{"set_grad of another shape", add_set_grad_shape},
          {"set_grad of another dtype", add_set_grad_dtype},
          {"set_grad of the tensor itself", add_set_grad_self},
          {"set_data of integers", add_set_data_integers},
          {"shapes that do not broadcast", add_broadcast},
          {"write of another shape", add_write_shape},
          {"write to a leaf without a guard", add_unguarded},
          {"dimension out of range", add_dimension},
          {"cotangent of another shape", add_cotangent},
          {"no cotangent", add_no_cotangent},
          {"backward without a graph", add_no_graph},
          {"requires_grad_(false) of a value", add_freeze_value},
          {"requires_grad_ of integers", add_integer_gradient},
          {"write to an inference tensor", add_inference},
          {"negative learning rate", add_options}};
}

}  // namespace fuzz
