/// \file
/// LoRA: trains small matrices that are added to the weights of a module. Hu et al. 2021,
/// https://arxiv.org/abs/2106.09685.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// The options of add_lora.
struct LoRAOptions {
  std::int64_t rank = 8;
  /// alpha / rank * lora_B lora_A is added to a weight.
  double alpha = 16.0;
  /// The probability with which training drops an element of lora_A's input.
  double dropout = 0.0;
};

/// Adds the LoRA parameters lora_A and lora_B to each Linear of `module` that a pattern names, and
/// returns the number of these layers.
///
///     add_lora(model, {"W_query", "W_value"});
///
/// A pattern is a path, or the end of a path after a dot. As in a shell, * matches any characters.
///
/// lora_A (rank, in) starts with random numbers, as a Linear's weight does. lora_B (out, rank)
/// starts as zeros, so the module's results do not change yet. All other parameters of the module
/// stop requiring grad, except the LoRA parameters of earlier calls.
///
/// Only a Linear can have LoRA. So in MultiheadAttention out_proj can have it, but in_proj, q_proj,
/// k_proj and v_proj cannot.
///
/// Nothing has changed after an error.
///
/// Throws:
///   Error - there is no pattern, or a pattern does not name a Linear
///   Error - a layer has LoRA already
///   Error - the rank is below 1, alpha is not finite, or dropout is not in [0, 1]
std::int64_t add_lora(ModuleBase& module, const std::vector<std::string>& patterns,
                      const LoRAOptions& options = {});

/// The lora_A and lora_B of all layers, under their paths. They can be saved without the other
/// weights.
///
/// The shapes of the tensors show the rank, but the result does not contain alpha. Save alpha, too:
/// the program must pass alpha to add_lora before it calls load_lora_state.
StateDict lora_state(const ModuleBase& module);
/// Loads the result of lora_state() into a module that has LoRA in the same layers.
///
/// It also accepts the names in PEFT's adapter_model.safetensors:
/// base_model.model.PATH.lora_A.weight, where PATH is a path in the module. For add_lora, `rank` is
/// r and `alpha` is lora_alpha of PEFT's adapter_config.json. Nothing has changed after an error.
///
/// Throws: Error - keys are missing, are unknown or have tensors of another shape; the message
///                 lists them all
void load_lora_state(ModuleBase& module, const StateDict& state);

/// Adds each layer's LoRA product to its weight, and removes the LoRA parameters.
///
/// The module computes the same results as before, up to rounding, but as fast as without LoRA.
/// Each of these weights becomes a new tensor. If another module shares such a weight, that module
/// still has the old tensor.
///
/// The parameters that add_lora froze still do not require grad. Call module.requires_grad_(true)
/// to train them again.
void merge_lora(ModuleBase& module);
/// Removes the LoRA parameters, so that the module computes what it computed before add_lora.
///
/// As after merge_lora, the parameters that add_lora froze still do not require grad.
void remove_lora(ModuleBase& module);

}  // namespace tend::nn
