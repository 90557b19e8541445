// Less memory for more time: activations are computed twice instead of kept.
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/autograd/tools/tensor_function.h>

namespace tend::autograd {

/// The options of checkpoint.
struct CheckpointOptions {
  Flag preserve_rng_state = true;  // of the default generator; not needed when f draws nothing
};

/// f(inputs), of which only f and the inputs are saved. When backward first needs what the
/// operations in f would have saved, f runs once more. f must not refer to what is gone by then.
///
/// Gradients are bit for bit the same as without checkpoint, dropout included, as long as f
/// computes the same each time. f may use other tensors, such as the parameters of a module; their
/// gradients come as usual, and so do second derivatives. Checkpoints nest.
///
/// Backward throws:
///   AutogradError  - an input was changed in place since; or f saves other tensors the second time
///
/// Limits:
/// - Other tensors that f uses must not change until backward. Only leaves that an operation saves
///   are checked, and not for set_data().
/// - The second time, f uses the paths of products and attention of backward's thread: put a
///   MatmulPathGuard or AttentionPathGuard into f.
/// - Operations that f runs on other threads, as in a parallel_for, save as usual and draw other
///   numbers the second time.
/// - f draws other numbers the second time from a generator of its own, and from any generator if
///   preserve_rng_state is false.
/// - The default generator is set back for the second run, and restored afterwards. Other threads
///   that draw from it during either run change the numbers that f draws.
/// https://pytorch.org/docs/2.6/checkpoint.html (use_reentrant=False)
std::vector<Tensor> checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs,
                               const CheckpointOptions& options = {});

/// The same for a function of one tensor that returns one.
template <class F>
requires std::convertible_to<std::invoke_result_t<F&, const Tensor&>, Tensor> Tensor
checkpoint(F f, const Tensor& input, const CheckpointOptions& options = {}) {
  return checkpoint(TensorFunction(std::move(f)), std::vector<Tensor>{input}, options)[0];
}

}  // namespace tend::autograd
