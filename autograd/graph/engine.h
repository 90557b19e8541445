// Reverse mode: from results back to inputs.
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

namespace autograd {
/// tend::backward of tensors in any array, to all leaves or to these inputs.
void backward(std::span<const Tensor> tensors, std::span<const Tensor> gradients, Flag retain_graph,
              Flag create_graph, const std::vector<Tensor>* inputs = nullptr);
}  // namespace autograd

/// Adds the gradients of `tensors`, weighted with the cotangents `gradients`, to `.grad` of every
/// leaf that requires one. An undefined (or missing) cotangent of a one-element tensor stands
/// for 1. Without retain_graph (by default: create_graph) the graph's saved tensors are freed.
///
/// Throws, before anything has changed:
///   AutogradError           - a tensor has no graph, its graph was freed, or a saved tensor was
///                             changed
///   ShapeError              - a cotangent does not fit
///   ShapeError, DTypeError  - the `.grad` of a leaf no longer has the leaf's shape or dtype
/// If a hook or a function of the user throws, no `.grad` has changed, but the graph may be freed.
inline void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& gradients = {},
                     Flag retain_graph = false, Flag create_graph = false) {
  autograd::backward(tensors, gradients, retain_graph, create_graph);
}

/// The same, but gradients are added only to the `.grad` of these inputs, leaves or not, and what
/// does not lead to them is not computed. Inputs that are not leaves retain their gradient from now
/// on, as after retain_grad(). An input that was not used stays as it is.
///
/// Throws, before anything has changed:
///   AutogradError  - there are no inputs, or one does not require grad; and as above
inline void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& gradients,
                     Flag retain_graph, Flag create_graph, const std::vector<Tensor>& inputs) {
  autograd::backward(tensors, gradients, retain_graph, create_graph, &inputs);
}

namespace autograd {

/// To be called in derivatives: a tensor that one node leaves for another, which the same backward
/// visits later. It is undefined at first, and ends with the backward.
Tensor& walk_note(const void* key);

/// Settings of `grad`.
struct GradOptions {
  Flag retain_graph = false;  // implied by create_graph
  Flag create_graph = false;  // the gradients have a graph themselves
  // An input that was not used, or to which a function of the user gave an undefined gradient, gets
  // an undefined gradient instead of an AutogradError.
  Flag allow_unused = false;
};

/// The gradients of `outputs` (weighted with `grad_outputs`, as in backward) with respect to
/// `inputs`, leaves or not; nothing is added to any `.grad`, and what does not lead to `inputs` is
/// not computed.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, GradOptions options = {});

/// The same with every output weighted with 1: PyTorch's grad_outputs=None. `outputs` are one
/// tensor or several, N is NewAxis.
template <class Outputs = std::vector<Tensor>, std::same_as<NewAxis> N>
std::vector<Tensor> grad(const Outputs& outputs, const std::vector<Tensor>& inputs, N,
                         GradOptions options = {}) {
  return grad(std::vector<Tensor>{outputs}, inputs, {}, options);
}

/// The gradient of one output, weighted with `grad_output`, with respect to one input.
template <std::derived_from<Tensor> Output, std::derived_from<Tensor> Input>
Tensor grad(const Output& output, const Input& input, const Tensor& grad_output,
            GradOptions options = {}) {
  return std::move(grad(std::vector<Tensor>{output}, std::vector<Tensor>{input},
                        std::vector<Tensor>{grad_output}, options)[0]);
}
/// The same of an output of one element: grad(y, x, {.create_graph = true}).
template <std::derived_from<Tensor> Output, std::derived_from<Tensor> Input>
Tensor grad(const Output& output, const Input& input, GradOptions options = {}) {
  return grad(output, input, Tensor(), options);
}

/// The gradients of one output of one element with respect to several inputs:
/// grad(loss, {w, b}).
template <std::derived_from<Tensor> Output>
std::vector<Tensor> grad(const Output& output, const std::vector<Tensor>& inputs,
                         GradOptions options = {}) {
  return grad(std::vector<Tensor>{output}, inputs, {}, options);
}

}  // namespace autograd
}  // namespace tend
