// Reverse-mode differentiation: from results back to inputs.
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

namespace autograd {
/// Implements tend::backward: for all leaves, or only for `inputs` if it is not null.
void backward(std::span<const Tensor> tensors, std::span<const Tensor> gradients, Flag retain_graph,
              Flag create_graph, const std::vector<Tensor>* inputs = nullptr);
}  // namespace autograd

/// Adds the gradients of `tensors` to `.grad` of every leaf that requires grad.
///
/// `gradients` are the cotangents of the tensors. An undefined or missing cotangent of a
/// one-element tensor means 1. The graph's saved tensors are freed, unless retain_graph or
/// create_graph is true.
///
/// All errors come before anything has changed. Exception: if a hook or a function of the user
/// throws, no `.grad` has changed, but the graph may be freed.
///
/// Throws:
///   AutogradError - a tensor has no graph, its graph was freed, or a saved tensor was changed
///   DTypeError    - the `.grad` of a leaf no longer has the leaf's dtype
///   ShapeError    - a cotangent has another shape than its tensor, or the `.grad` of a leaf no
///                   longer has the leaf's shape
inline void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& gradients = {},
                     Flag retain_graph = false, Flag create_graph = false) {
  autograd::backward(tensors, gradients, retain_graph, create_graph);
}

/// Adds the gradients of `tensors` only to the `.grad` of these inputs, which need not be leaves.
///
/// Gradients that do not lead to the inputs are not computed. Inputs that are not leaves retain
/// their gradient from now on, as after retain_grad(). The `.grad` of an unused input stays as it
/// is. All errors come before anything has changed, and include the errors of the overload without
/// inputs.
///
/// Throws: AutogradError - there are no inputs, or one of them does not require grad
inline void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& gradients,
                     Flag retain_graph, Flag create_graph, const std::vector<Tensor>& inputs) {
  autograd::backward(tensors, gradients, retain_graph, create_graph, &inputs);
}

namespace autograd {

/// Returns a tensor through which a node can pass data to a node that the same backward visits
/// later, if both nodes use the same `key`.
///
/// Only derivatives may call it. The tensor is undefined at first, and is destroyed at the end of
/// the backward.
Tensor& walk_note(const void* key);

/// Settings of `grad`.
struct GradOptions {
  Flag retain_graph = false;  // create_graph implies it
  Flag create_graph = false;  // the gradients have a graph themselves
  // What happens to inputs that are unused, or get an undefined gradient from a function of the
  // user. If true, their result is an undefined tensor. Otherwise grad throws an AutogradError.
  Flag allow_unused = false;
};

/// Returns the gradients of `outputs` with respect to `inputs`, which need not be leaves.
///
/// `grad_outputs` are cotangents, as in backward. Nothing is added to any `.grad`, and gradients
/// that do not lead to `inputs` are not computed. The errors include backward's errors about
/// outputs, cotangents and saved tensors.
///
/// Throws:
///   AutogradError - there are no inputs, or one of them does not require grad
///   AutogradError - allow_unused is false, and an input is unused or gets an undefined gradient
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, GradOptions options = {});

/// Returns the gradients of `outputs` with cotangents 1: PyTorch's grad_outputs=None.
///
/// `outputs` is one tensor or several. N is the type of None.
template <class Outputs = std::vector<Tensor>, std::same_as<NewAxis> N>
std::vector<Tensor> grad(const Outputs& outputs, const std::vector<Tensor>& inputs, N,
                         GradOptions options = {}) {
  return grad(std::vector<Tensor>{outputs}, inputs, {}, options);
}

/// Returns the gradient of one output, with the cotangent `grad_output`, with respect to one input.
template <std::derived_from<Tensor> Output, std::derived_from<Tensor> Input>
Tensor grad(const Output& output, const Input& input, const Tensor& grad_output,
            GradOptions options = {}) {
  return std::move(grad(std::vector<Tensor>{output}, std::vector<Tensor>{input},
                        std::vector<Tensor>{grad_output}, options)[0]);
}
/// Returns the gradient of a one-element output with respect to one input:
/// grad(y, x, {.create_graph = true}).
template <std::derived_from<Tensor> Output, std::derived_from<Tensor> Input>
Tensor grad(const Output& output, const Input& input, GradOptions options = {}) {
  return grad(output, input, Tensor(), options);
}

/// Returns the gradients of a one-element output with respect to several inputs:
/// grad(loss, {w, b}).
template <std::derived_from<Tensor> Output>
std::vector<Tensor> grad(const Output& output, const std::vector<Tensor>& inputs,
                         GradOptions options = {}) {
  return grad(std::vector<Tensor>{output}, inputs, {}, options);
}

}  // namespace autograd
}  // namespace tend
