// Statements that differentiate, and those about gradients that are kept.
#include <algorithm>

#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

const char* python(bool value) {
  return value ? "True" : "False";
}

// What a backward that failed after hooks had run leaves of its graph is not defined.
void after(LeafProgram& p, bool succeeded) {
  if ((!succeeded && !p.hooks.empty()) || p.has_acting_hooks()) p.forget_graphs();
}

bool backward_of(LeafProgram& p, const std::vector<Named>& outputs, bool retain, bool create) {
  if (p.has_acting_hooks()) p.clear_misfits();
  std::string names, cotangents;
  std::vector<Tensor> tensors, gradients;
  for (const Named& each : outputs) {
    const std::int64_t which = p.dice.between(1, 90);
    names += each.name + ", ";
    tensors.push_back(each.tensor);
    if (each.tensor.numel() == 1 && p.dice.chance(0.5)) {
      cotangents += "None, ";
      gradients.emplace_back();
    } else {
      cotangents += as_text("cotangent(", which, ", ", each.name, "), ");
      gradients.push_back(weights_like(each.tensor, which));
    }
  }
  const bool succeeded = p.act(
      as_text("backward([", names, "], [", cotangents, "], ", python(retain), ", ", python(create),
              ")"),
      [&] { backward(tensors, gradients, retain, create); },
      p.dice.chance(0.05) ? Modes{Mode::no_grad} : Modes{});
  after(p, succeeded);
  return true;
}

LeafEntry backward_entry(const std::string& name, int weight, bool retain, bool create) {
  return {name,
          [=](LeafProgram& p) {
            const std::optional<Named> v = p.tracked();
            return v && backward_of(p, {*v}, retain, create);
          },
          weight};
}

bool add_backward_of_two(LeafProgram& p) {
  const std::optional<Named> v = p.tracked(), w = p.tracked();
  return v && w && backward_of(p, {*v, *w}, p.dice.chance(0.3), false);
}

bool add_backward_of_leaf(LeafProgram& p) {
  const Named x = p.leaf();
  return backward_of(p, {x}, false, false);
}

bool add_grad(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  // In PyTorch it is kept by retain_grad, too.
  if (!v || std::any_of(p.all().begin(), p.all().end(),
                        [](const Named& each) { return each.tensor.retains_grad(); }))
    return false;
  const Named x = p.leaf(), y = p.real();
  // PyTorch gives the gradient of a value from before its hooks where it leads to another input.
  if (!p.hooks.empty() && !y.tensor.is_leaf()) return false;
  const bool create = p.dice.chance(0.4), unused = p.dice.chance(0.8);
  const bool retain = create || p.dice.chance(0.5);
  const std::int64_t which = p.dice.between(1, 90);
  const std::string a = p.fresh('v'), b = p.fresh('v');
  const bool succeeded =
      p.act(as_text(a, ", ", b, " = grad(", v->name, ", [", x.name, ", ", y.name, "], cotangent(",
                    which, ", ", v->name, "), ", python(retain), ", ", python(create), ", ",
                    python(unused), ")"),
            [&] {
              const std::vector<Tensor> gradients = autograd::grad(
                  {v->tensor}, {x.tensor, y.tensor}, {weights_like(v->tensor, which)},
                  {.retain_graph = retain, .create_graph = create, .allow_unused = unused});
              // Some are expanded, not always the same as in PyTorch.
              const auto dense = [](const Tensor& g) { return g.defined() ? g.clone() : g; };
              p.bind(a, dense(gradients[0]), Role::value);
              p.bind(b, dense(gradients[1]), Role::value);
            });
  after(p, succeeded);
  return true;
}

// Another name for a gradient, which sees what is added to it.
bool add_handle(LeafProgram& p) {
  const Named x = p.leaf();
  if (!x.tensor.grad().defined()) return false;
  return p.define(Role::value, x.name + ".grad", [&] { return x.tensor.grad(); });
}

bool add_zero_grad(LeafProgram& p) {
  const Named x = p.leaf();
  return p.act(x.name + ".grad = None", [&] { Tensor(x.tensor).zero_grad(); });
}

bool add_set_grad(LeafProgram& p) {
  const Named x = p.leaf();
  const Named g = p.plain(x.tensor.shape(), x.tensor.dtype());
  return p.act(as_text(x.name, ".grad = ", g.name), [&] { Tensor(x.tensor).set_grad(g.tensor); });
}

// What is added to one is added to the other.
bool add_shared_grad(LeafProgram& p) {
  const Named x = p.leaf(), y = p.leaf();
  if (!x.tensor.grad().defined() || y.name == x.name) return false;
  p.act(as_text(y.name, ".grad = ", x.name, ".grad"),
        [&] { Tensor(y.tensor).set_grad(x.tensor.grad()); });
  return true;
}

bool add_expanded_grad(LeafProgram& p) {
  const Named x = p.leaf();
  if (x.tensor.dim() == 0) return false;
  const Named g = p.plain({1}, x.tensor.dtype());
  return p.act(as_text(x.name, ".grad = ", g.name, ".expand(", tuple(x.tensor.shape()), ")"),
               [&] { Tensor(x.tensor).set_grad(g.tensor.expand(x.tensor.shape())); });
}

bool add_scaled_grad(LeafProgram& p) {
  const Named x = p.leaf();
  const Tensor gradient = x.tensor.grad();
  if (!gradient.defined()) return false;
  // PyTorch's zero_ writes elements that several indices share.
  if (!gradient.array().may_self_overlap() && p.dice.chance(0.5))
    return p.act(x.name + ".grad.zero_()", [&] { gradient.zero_(); });
  return p.act(x.name + ".grad.mul_(0.5)", [&] { gradient.mul_(0.5); });
}

}  // namespace

std::vector<LeafEntry> backward_entries() {
  return {backward_entry("backward", 7, false, false),
          backward_entry("backward that retains its graph", 5, true, false),
          backward_entry("backward with a graph of its own", 2, true, true),
          {"backward of two", add_backward_of_two, 2},
          {"backward of a leaf", add_backward_of_leaf},
          {"autograd.grad", add_grad, 2},
          {"a name for a gradient", add_handle},
          {"zero_grad of a leaf", add_zero_grad, 2},
          {"set_grad", add_set_grad, 2},
          {"set_grad of another leaf's", add_shared_grad},
          {"set_grad of an expanded one", add_expanded_grad},
          {"gradient written in place", add_scaled_grad}};
}

}  // namespace fuzz
