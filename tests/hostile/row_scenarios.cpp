// Calls without memory: the rows of the operation table.
#include "tests/hostile/refusals.h"
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

Tensors with_grad(const Tensors& tensors) {
  Tensors chosen;
  for (const Tensor& x : tensors) {
    if (x.requires_grad()) chosen.push_back(x);
  }
  return chosen;
}

// The gradients of the outputs with respect to the leaves.
Tensors gradients(const Tensors& outputs, const Tensors& leaves) {
  const Tensors from = with_grad(outputs), to = with_grad(leaves);
  if (from.empty() || to.empty()) return {};
  Tensors cotangents;
  for (const Tensor& x : from) cotangents.push_back(cotangent_like(x));
  return autograd::grad(from, to, cotangents, {.retain_graph = true, .allow_unused = true});
}

Scenario forward_of(const Op& op) {
  return {op.name, [&op] {
            manual_seed(1);
            const Layout layout = op.any_layout ? Layout::transposed : Layout::contiguous;
            const Case made = make_case(op, op.samples.at(0), layout);
            Prepared prepared;
            const auto outputs = std::make_shared<Tensors>();
            prepared.watched = made.inputs;
            prepared.run = [call = op.call, inputs = made.arguments(), outputs](Tensors& results) {
              *outputs = call(inputs);
              results = *outputs;
            };
            prepared.after = [outputs, inputs = made.inputs] {
              return gradients(*outputs, inputs);
            };
            return prepared;
          }};
}

Scenario backward_of(const Op& op) {
  return {"backward of " + op.name, [&op] {
            manual_seed(1);
            const Case made = make_case(op, op.samples.at(0), Layout::contiguous);
            Prepared prepared;
            prepared.watched = made.inputs;
            Tensors from = with_grad(op.call(made.arguments())), cotangents;
            for (const Tensor& x : from) cotangents.push_back(cotangent_like(x));
            prepared.run = [from, cotangents](Tensors&) { backward(from, cotangents, true); };
            prepared.grads_may_change = true;
            return prepared;
          }};
}

// The twin of a tensor in a graph: a copy of a leaf, or a view of one.
Scenario twin_of(const Op& op, bool view) {
  return {
      op.name + (view ? "_ of a view" : "_"), [&op, view] {
        manual_seed(1);
        const Case made = make_case(op, op.samples.at(0), Layout::contiguous);
        Tensors inputs = made.arguments();
        Prepared prepared;
        prepared.watched = made.inputs;
        if (view) {
          const Tensor base = stack({inputs[0], inputs[0]});
          prepared.watched.push_back(base);
          inputs[0] = base[1];
        } else {
          inputs[0] = inputs[0].clone();
        }
        prepared.watched.push_back(inputs[0]);
        prepared.run = [call = op.twins[0], inputs](Tensors& results) { results = call(inputs); };
        prepared.after = [watched = prepared.watched, leaves = made.inputs] {
          return gradients(
              Tensors(watched.begin() + static_cast<std::ptrdiff_t>(leaves.size()), watched.end()),
              leaves);
        };
        return prepared;
      }};
}

// Whether the twin is one operation, since several can stop between two, and can take its first
// sample: the result must fit.
bool twin_fits(const Op& op) {
  if (op.twins.empty()) return false;
  const Case made = make_case(op, op.samples.at(0), Layout::contiguous);
  const Tensors inputs = made.arguments();
  try {
    Tensors copies = inputs;
    copies[0] = inputs[0].clone();
    const std::uint32_t before = copies[0].version();
    op.twins[0](copies);
    return copies[0].version() - before <= 1;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<Scenario> row_scenarios() {
  std::vector<Scenario> all;
  for (const Op& op : op_table()) {
    all.push_back(forward_of(op));
    if (make_case(op, op.samples.at(0), Layout::contiguous).has_gradient() &&
        !with_grad(op.call(make_case(op, op.samples.at(0), Layout::contiguous).arguments()))
             .empty())
      all.push_back(backward_of(op));
    if (!twin_fits(op)) continue;
    all.push_back(twin_of(op, false));
    if (!op.twin_reshapes) all.push_back(twin_of(op, true));
  }
  return all;
}

}  // namespace tend::test
