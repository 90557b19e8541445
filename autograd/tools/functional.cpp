#include <tend/autograd/tools/functional.h>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::autograd {
namespace {

using Tensors = std::vector<Tensor>;

// Returns the tensors with which f is called: views in the caller's graph if create_graph continues
// it, and new leaves otherwise.
Tensors variables(const char* operation, const Tensors& inputs, bool create_graph) {
  if (inputs.empty()) fail<AutogradError>(operation, "needs at least one input");
  Tensors own;
  for (const Tensor& input : inputs) {
    own.push_back(create_graph && input.requires_grad() ? view(input, input.shape())
                                                        : input.detach().requires_grad_());
  }
  return own;
}

Tensors finished(Tensors results, bool create_graph) {
  if (!create_graph) {
    for (Tensor& result : results) result = result.detach();
  }
  return results;
}

void check_shapes(const char* operation, const char* what, const Tensors& v,
                  const Tensors& expected) {
  if (v.size() != expected.size()) {
    fail<ShapeError>(operation, "needs a vector for each of the ", expected.size(), ' ', what,
                     ", got ", v.size());
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i].shape() != expected[i].shape()) {
      fail<ShapeError>(operation, "the vectors must have the shapes of the ", what, ", but vector ",
                       i, " has shape ", v[i].shape(), ", not ", expected[i].shape());
    }
  }
}

// Does what grad does, but returns zeros for inputs on which the outputs do not depend.
Tensors gradients(const Tensors& outputs, const Tensors& inputs, const Tensors& cotangents,
                  bool create_graph) {
  Tensors reached, weights;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    reached.push_back(outputs[i]);
    weights.push_back(cotangents[i]);
  }
  Tensors wanted;
  for (const Tensor& input : inputs) {
    if (input.requires_grad()) wanted.push_back(input);
  }
  Tensors found(wanted.size());
  if (!reached.empty() && !wanted.empty()) {
    found = grad(reached, wanted, weights,
                 {.retain_graph = true, .create_graph = create_graph, .allow_unused = true});
  }
  Tensors all;
  std::size_t next = 0;
  for (const Tensor& input : inputs) {
    const Tensor gradient = input.requires_grad() ? found[next++] : Tensor();
    all.push_back(gradient.defined() ? gradient : zeros_like(input));
  }
  return all;
}

Tensors ones_for(const char* operation, const Tensors& outputs) {
  Tensors ones;
  for (const Tensor& output : outputs) {
    if (output.numel() != 1) {
      fail<ShapeError>(operation, "the function must return a single element, but returned shape ",
                       output.shape());
    }
    ones.push_back(ones_like(output));
  }
  return ones;
}

// Returns the output of f, and throws a ShapeError unless it is one tensor with one element.
Tensors scalar_outputs(const char* operation, const TensorFunction& f, const Tensors& inputs) {
  Tensors outputs = f.call(operation, inputs);
  if (outputs.size() != 1) {
    fail<ShapeError>(operation, "the function must return one tensor, but returned ",
                     outputs.size());
  }
  ones_for(operation, outputs);
  return outputs;
}

}  // namespace

OutputsAndProduct vjp(const TensorFunction& f, const Tensors& inputs, const Tensors& v,
                      Flag create_graph) {
  const GradModeGuard usual(true);
  const Tensors x = variables("vjp", inputs, create_graph);
  const Tensors outputs = f.call("vjp", x);
  const Tensors weights = v.empty() ? ones_for("vjp", outputs) : v;
  check_shapes("vjp", "outputs", weights, outputs);
  return {finished(outputs, create_graph),
          finished(gradients(outputs, x, weights, create_graph), create_graph)};
}

OutputsAndProduct jvp(const TensorFunction& f, const Tensors& inputs, const Tensors& v,
                      Flag create_graph) {
  const GradModeGuard usual(true);
  check_shapes("jvp", "inputs", v, inputs);
  const Tensors x = variables("jvp", inputs, create_graph);
  const Tensors outputs = f.call("jvp", x);
  // The first pass is linear in its cotangents, so their values do not matter.
  Tensors cotangents;
  for (const Tensor& output : outputs) {
    Tensor& zero = cotangents.emplace_back(zeros_like(output));
    if (is_floating(output.dtype())) zero.requires_grad_();
  }
  const Tensors transposed = gradients(outputs, x, cotangents, true);
  return {finished(outputs, create_graph),
          finished(gradients(transposed, cotangents, v, create_graph), create_graph)};
}

namespace {

std::vector<Tensors> jacobian_for(const char* operation, const TensorFunction& f,
                                  const Tensors& inputs, bool create_graph) {
  const GradModeGuard usual(true);
  const Tensors x = variables(operation, inputs, create_graph);
  std::vector<Tensors> result;
  for (const Tensor& output : f.call(operation, x)) {
    std::vector<Tensors> rows(x.size());  // for each input, the rows of its Jacobian
    for (std::int64_t i = 0; i < output.numel(); ++i) {
      const Tensor unit = zeros({output.numel()}, output.dtype());
      unit[i] = 1;
      const Tensors row = gradients({output}, x, {view(unit, output.shape())}, create_graph);
      for (std::size_t j = 0; j < x.size(); ++j) rows[j].push_back(row[j]);
    }
    Tensors& derivatives = result.emplace_back();
    for (std::size_t j = 0; j < x.size(); ++j) {
      Shape shape = output.shape();
      for (const std::int64_t size : x[j].shape()) shape.push_back(size);
      derivatives.push_back(rows[j].empty() ? zeros(shape, x[j].dtype())
                                            : reshape(stack(rows[j]), shape));
    }
    derivatives = finished(derivatives, create_graph);
  }
  return result;
}

}  // namespace

std::vector<Tensors> jacobian(const TensorFunction& f, const Tensors& inputs, Flag create_graph) {
  return jacobian_for("jacobian", f, inputs, create_graph);
}

std::vector<Tensors> hessian(const TensorFunction& f, const Tensors& inputs, Flag create_graph) {
  const auto slope = [&f](const Tensors& x) {
    const Tensors outputs = scalar_outputs("hessian", f, x);
    return gradients(outputs, x, ones_for("hessian", outputs), true);
  };
  return jacobian_for("hessian", TensorFunction(slope), inputs, create_graph);
}

OutputsAndProduct hvp(const TensorFunction& f, const Tensors& inputs, const Tensors& v,
                      Flag create_graph) {
  const GradModeGuard usual(true);
  check_shapes("hvp", "inputs", v, inputs);
  const Tensors x = variables("hvp", inputs, create_graph);
  const Tensors outputs = scalar_outputs("hvp", f, x);
  const Tensors slope = gradients(outputs, x, ones_for("hvp", outputs), true);
  return {finished(outputs, create_graph),
          finished(gradients(slope, x, v, create_graph), create_graph)};
}

namespace {

// Returns the only derivative of a function of one tensor that returns one tensor.
Tensor only(const char* operation, const std::vector<Tensors>& derivatives) {
  if (derivatives.size() != 1) {
    fail<ShapeError>(operation, "the function must return one tensor, but returned ",
                     derivatives.size());
  }
  return derivatives[0][0];
}

}  // namespace

Tensor jacobian(const TensorFunction& f, const Tensor& input, Flag create_graph) {
  return only("jacobian", jacobian(f, Tensors{input}, create_graph));
}

Tensor hessian(const TensorFunction& f, const Tensor& input, Flag create_graph) {
  return only("hessian", hessian(f, Tensors{input}, create_graph));
}

}  // namespace tend::autograd
