// Checkpointing: uses less memory and more time, by computing activations twice instead of saving
// them.
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/autograd/tools/tensor_function.h>

namespace tend::autograd {

/// The options of checkpoint.
struct CheckpointOptions {
  // True if both runs of f must get the same random numbers from the default generator.
  Flag preserve_rng_state = true;
};

/// Computes f(inputs) and saves only f and the inputs for backward.
///
/// When backward first needs a tensor that the operations in f would have saved, f runs again. f
/// must not refer to objects that no longer exist then.
///
/// Gradients are bit for bit the same as without checkpoint, also with dropout, if f computes the
/// same each time. f may use other tensors, such as the parameters of a module. They get their
/// gradients as usual. Second derivatives work, too. Checkpoints nest.
///
/// The backward, and not checkpoint itself, throws these errors:
///
/// Throws: AutogradError - an input was changed in place after the call, or f saves other tensors
///                         in the second run
///
/// Limits:
///
/// - Other tensors that f uses must not change until backward. This is checked only for leaves that
///   an operation saves, and not for set_data().
/// - The second run uses the matmul and attention paths of backward's thread. To choose them, put a
///   MatmulPathGuard or AttentionPathGuard into f.
/// - Operations that f runs on other threads, as in a parallel_for, save as usual. Their random
///   numbers differ in the second run.
/// - Random numbers from a generator that belongs to f differ in the second run. If
///   preserve_rng_state is false, random numbers from any generator differ.
/// - The default generator is set back for the second run, and restored afterwards. If other
///   threads use it during either run, they change the random numbers of f.
///
/// https://pytorch.org/docs/2.6/checkpoint.html (use_reentrant=False)
std::vector<Tensor> checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs,
                               const CheckpointOptions& options = {});

/// Computes f(input) with checkpointing, for a function of one tensor that returns one.
template <class F>
requires std::convertible_to<std::invoke_result_t<F&, const Tensor&>, Tensor> Tensor
checkpoint(F f, const Tensor& input, const CheckpointOptions& options = {}) {
  return checkpoint(TensorFunction(std::move(f)), std::vector<Tensor>{input}, options)[0];
}

}  // namespace tend::autograd
