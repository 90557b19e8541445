// Calls without memory: what is done with tensors and graphs.
#include "tests/hostile/refusals.h"

namespace tend::test {
namespace {

Tensor leaf(const Shape& shape) {
  Tensor x = linspace(-1, 2, element_count(shape)).view(shape).clone();
  return x.requires_grad_();
}

// A call on leaves x (3, 4) and y (3, 4), which are watched.
template <class F>
Scenario on_leaves(std::string name, F run, bool grads_may_change = false) {
  return {std::move(name), [=] {
            manual_seed(1);
            const Tensor x = leaf({3, 4}), y = leaf({3, 4});
            Prepared prepared;
            prepared.watched = {x, y};
            prepared.run = [=](Tensors& results) { run(x, y, results); };
            prepared.grads_may_change = grads_may_change;
            return prepared;
          }};
}

// The same on x * 2 and its first row, which are watched as well.
template <class F>
Scenario on_graph(std::string name, F run) {
  return {std::move(name), [=] {
            manual_seed(1);
            const Tensor x = leaf({3, 4});
            const Tensor made = x * 2;
            const Tensor row = made[0];
            Prepared prepared;
            prepared.watched = {x, made, row};
            prepared.run = [=](Tensors& results) { run(made, row, results); };
            prepared.after = [=]() -> Tensors {
              const Tensor sum = (made * made).sum() + row.sum();
              if (!sum.requires_grad()) return {};
              return autograd::grad({sum}, {x}, {}, {.allow_unused = true});
            };
            return prepared;
          }};
}

struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * x * x;
  }
  static Tensor backward(const autograd::FunctionContext& context, const Tensor& grad) {
    const Tensor x = context.saved(0);
    return grad * 3 * x * x;
  }
};

void put(Tensors& results, const Tensors& more) {
  for (const Tensor& x : more) results.push_back(x);
}

using T = const Tensor&;

// Shapes of so many dimensions take memory of their own.
Prepared seven_dimensions() {
  const Tensor x = linspace(-1, 2, 128).view({2, 2, 2, 2, 2, 2, 2}).clone().transpose(0, 6);
  Prepared prepared;
  prepared.watched = {x};
  prepared.run = [=](Tensors&) { x.exp_(); };
  return prepared;
}

std::vector<Scenario> writes() {
  const Tensor rows = tensor({2, 0}), mask = tensor({{true, false, true, false}});
  return {
      {"a write to seven dimensions", seven_dimensions},
      on_graph("chain of in-place writes",
               [](T made, T row, Tensors&) {
                 row.mul_(3);
                 static_cast<void>(made);
               }),
      on_graph("write of a base", [](T made, T, Tensors&) { made.exp_(); }),
      on_graph("write of a view by the base", [](T made, T row, Tensors&) { row.add_(made[1]); }),
      on_graph("copy_ into a view", [](T made, T row, Tensors&) { row.copy_(made[2]); }),
      on_graph("assignment to places", [rows](T made, T, Tensors&) { made[{rows}] = made[0]; }),
      on_graph("assignment to a mask",
               [mask](T made, T, Tensors&) {
                 made[{0, mask[0]}] = 1.5;
               }),
      on_graph("+= at places", [rows](T made, T, Tensors&) { made[{rows}] += 1.0; }),
      on_graph("transpose_", [](T made, T, Tensors&) { made.transpose_(0, 1); }),
      on_graph("detach_", [](T made, T, Tensors&) { made.detach_(); }),
      on_graph("retain_grad", [](T made, T, Tensors&) { Tensor(made).retain_grad(); }),
      on_graph("register_hook",
               [](T made, T, Tensors&) { made.register_hook([](T grad) { return grad * 2; }); }),
      on_graph("printing", [](T made, T, Tensors&) { to_string(made); }),
      on_graph("graph_text", [](T made, T, Tensors&) { autograd::graph_text({made}); }),
      on_graph("history of a view", [](T, T row, Tensors& results) { results.push_back(row * 2); }),
  };
}

std::vector<Scenario> settings() {
  return {
      on_leaves("set_grad", [](T x, T y, Tensors&) { Tensor(x).set_grad(y.detach()); }),
      on_leaves("set_data",
                [](T x, T, Tensors&) {
                  Tensor(x).set_data(zeros({2, 2}));
                }),
      on_leaves("requires_grad_",
                [](T x, T, Tensors& results) {
                  Tensor fresh = x.detach();
                  results.push_back(fresh.requires_grad_());
                }),
      on_leaves("hook on a leaf",
                [](T x, T, Tensors&) { x.register_hook([](T grad) { return grad * 2; }); }),
      on_leaves("to_vector", [](T x, T, Tensors&) { x.t().to_vector<float>(); }),
      on_leaves("index",
                [](T x, T, Tensors& results) {
                  results.push_back(x[{Slice{0, 2, 1}, newaxis, ellipsis}]);
                }),
      on_leaves("many dimensions",
                [](T x, T, Tensors& results) {
                  results.push_back(x.view({1, 1, 1, 1, 1, 1, 3, 4}).exp().transpose(0, 7) * 2);
                }),
  };
}

std::vector<Scenario> backwards() {
  return {
      on_leaves(
          "backward", [](T x, T y, Tensors&) { (x * y).exp().sum().backward(); }, true),
      on_leaves(
          "backward with a graph",
          [](T x, T y, Tensors&) { (x * y).exp().sum().backward({}, true, true); }, true),
      on_leaves(
          "backward of a product", [](T x, T y, Tensors&) { matmul(x, y.t()).sum().backward(); },
          true),
      on_leaves("grad",
                [](T x, T y, Tensors& results) {
                  put(results, autograd::grad({(x * y).sum()}, {x, y}));
                }),
      on_leaves(
          "backward with a hook",
          [](T x, T y, Tensors&) {
            const Tensor product = x * y;
            product.register_hook([](T grad) { return grad * 2; });
            product.sum().backward();
          },
          true),
      on_leaves(
          "backward with anomaly mode",
          [](T x, T y, Tensors&) {
            const autograd::DetectAnomaly anomaly;
            (x * y).exp().sum().backward();
          },
          true),
      on_leaves(
          "retained gradient",
          [](T x, T y, Tensors& results) {
            Tensor product = x * y;
            product.retain_grad();
            product.exp().sum().backward();
            results.push_back(product.grad());
          },
          true),
  };
}

std::vector<Scenario> functionals() {
  const TensorFunction f = [](T x, T y) { return (x * y * y).exp().sum(); };
  const TensorFunction square = [](T x) { return x * x; };
  return {
      on_leaves("vjp",
                [=](T x, T y, Tensors& r) {
                  put(r, autograd::vjp(f, {x, y}).product);
                }),
      on_leaves("jvp",
                [=](T x, T y, Tensors& r) {
                  put(r, autograd::jvp(f, {x, y}, {y, x}).product);
                }),
      on_leaves("hvp",
                [=](T x, T y, Tensors& r) {
                  put(r, autograd::hvp(f, {x, y}, {y, x}).product);
                }),
      on_leaves("hessian",
                [=](T x, T y, Tensors& r) {
                  for (const Tensors& row : autograd::hessian(f, {x, y})) put(r, row);
                }),
      on_leaves("jacobian",
                [=](T x, T, Tensors& r) { r.push_back(autograd::jacobian(square, x)); }),
      on_leaves("checkpoint",
                [=](T x, T, Tensors& r) {
                  r.push_back(autograd::checkpoint([](T t) { return dropout(t, 0.5).exp(); }, x));
                }),
      on_leaves(
          "backward of checkpoint",
          [=](T x, T, Tensors&) {
            autograd::checkpoint([](T t) { return dropout(t, 0.5).exp(); }, x).sum().backward();
          },
          true),
      on_leaves("custom function", [](T x, T, Tensors& r) { r.push_back(Cube().apply(x)); }),
      on_leaves(
          "backward of a custom function",
          [](T x, T, Tensors&) { Cube().apply(x).sum().backward(); }, true),
      on_leaves("gradcheck",
                [=](T x, T, Tensors&) {
                  const Tensor wide = x.detach().to(float64).requires_grad_();
                  gradcheck(square, {wide});
                }),
  };
}

}  // namespace

std::vector<Scenario> engine_scenarios() {
  std::vector<Scenario> all;
  for (const auto& family : {writes(), settings(), backwards(), functionals()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace tend::test
