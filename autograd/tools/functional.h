// Derivatives of functions: products with the Jacobian and the Hessian, and the full matrices.
//
// Every function here calls f with new handles on the elements of `inputs`. Results have no history
// unless create_graph is set. With it, they can be differentiated with respect to `inputs`.
//
// https://pytorch.org/docs/2.6/autograd.html#functional-higher-level-api
#pragma once

#include <vector>

#include <tend/autograd/tools/tensor_function.h>

namespace tend::autograd {

/// The outputs f(inputs), and a product with the Jacobian or the Hessian of f.
struct OutputsAndProduct {
  std::vector<Tensor> outputs;
  std::vector<Tensor> product;
};

/// Computes v^T J: for each input, the sum over all outputs of v times the output's derivative.
///
/// `v` has the shapes of the outputs. It may be omitted if each output has one element.
///
/// Throws:
///   AutogradError - there are no inputs
///   ShapeError    - `v` does not have the shapes of the outputs, or is omitted for an output that
///                   does not have one element
OutputsAndProduct vjp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& v = {}, Flag create_graph = false);

/// Computes J v: for each output, its derivative in the direction `v`.
///
/// `v` has the shapes of the inputs. It uses two reverse passes. The second differentiates the
/// first with respect to its cotangents.
///
/// Throws:
///   AutogradError - there are no inputs
///   ShapeError    - `v` does not have the shapes of the inputs
OutputsAndProduct jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& v, Flag create_graph = false);

/// Computes the derivatives of all outputs with respect to all inputs.
///
/// Element [i][j] is the derivative of output i with respect to input j. Its shape is the shape of
/// output i followed by the shape of input j. There is one reverse pass for each element of the
/// outputs.
///
/// Throws: AutogradError - there are no inputs
std::vector<std::vector<Tensor>> jacobian(const TensorFunction& f,
                                          const std::vector<Tensor>& inputs,
                                          Flag create_graph = false);

/// Computes the second derivatives of f, which returns one element.
///
/// Element [i][j] is the second derivative with respect to inputs i and j. Its shape is the shape
/// of input i followed by the shape of input j.
///
/// Throws:
///   AutogradError - there are no inputs
///   ShapeError    - f does not return one tensor with one element
std::vector<std::vector<Tensor>> hessian(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                         Flag create_graph = false);

/// Computes the product of the Hessian of f with `v`. f must return one element.
///
/// `v` has the shapes of the inputs. It uses two reverse passes.
///
/// Throws:
///   AutogradError - there are no inputs
///   ShapeError    - f does not return one tensor with one element, or `v` does not have the shapes
///                   of the inputs
OutputsAndProduct hvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& v, Flag create_graph = false);

/// Computes the Jacobian, or the Hessian, of a function of one tensor that returns one tensor.
///
/// Throws:
///   ShapeError - f does not return one tensor
///   ShapeError - the function is hessian, and the tensor does not have one element
Tensor jacobian(const TensorFunction& f, const Tensor& input, Flag create_graph = false);
Tensor hessian(const TensorFunction& f, const Tensor& input, Flag create_graph = false);

}  // namespace tend::autograd
