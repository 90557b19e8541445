// Derivatives of functions: products with the Jacobian and the Hessian, and both in full.
//
// Every function here calls f with its own handles on the elements of `inputs`. Results have no
// history unless create_graph is set: then they can be differentiated with respect to `inputs`.
// https://pytorch.org/docs/2.6/autograd.html#functional-higher-level-api
#pragma once

#include <vector>

#include <tend/autograd/tools/tensor_function.h>

namespace tend::autograd {

/// f(inputs), and a product with its Jacobian.
struct OutputsAndProduct {
  std::vector<Tensor> outputs;
  std::vector<Tensor> product;
};

/// v^T J: for each input the sum over all outputs of v times their derivative. `v` has the shapes
/// of the outputs (ShapeError); it may be left out when each has one element.
OutputsAndProduct vjp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& v = {}, Flag create_graph = false);

/// J v: for each output its derivative in the direction `v`, which has the shapes of the inputs
/// (ShapeError). By two reverse passes, the second of which differentiates the first with respect
/// to its cotangent.
OutputsAndProduct jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& v, Flag create_graph = false);

/// The derivative of output i with respect to input j at [i][j], of output i's shape followed by
/// input j's. One reverse pass for each element of the outputs.
std::vector<std::vector<Tensor>> jacobian(const TensorFunction& f,
                                          const std::vector<Tensor>& inputs,
                                          Flag create_graph = false);

/// The second derivatives of f, which gives one element (ShapeError): at [i][j] with respect to
/// inputs i and j, of input i's shape followed by input j's.
std::vector<std::vector<Tensor>> hessian(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                         Flag create_graph = false);

/// The Hessian of f, which gives one element (ShapeError), times `v`, which has the shapes of the
/// inputs (ShapeError). By two reverse passes.
OutputsAndProduct hvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& v, Flag create_graph = false);

/// jacobian and hessian of a function of one tensor that returns one.
Tensor jacobian(const TensorFunction& f, const Tensor& input, Flag create_graph = false);
Tensor hessian(const TensorFunction& f, const Tensor& input, Flag create_graph = false);

}  // namespace tend::autograd
