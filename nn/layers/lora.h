/// \file
/// LoRA: training a module by small matrices that are added to its weights. Hu et al. 2021,
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
  /// What is added to a weight is alpha / rank * lora_B lora_A.
  double alpha = 16.0;
  /// Probability with which numbers that lora_A reads are dropped in training.
  double dropout = 0.0;
};

/// Gives each Linear of `module` that a pattern names its lora_A (rank, in), drawn as a Linear's
/// weight is, and lora_B (out, rank), zeros, so that nothing changes yet; all other parameters of
/// the module, but for those of earlier calls, stop requiring grad. A pattern is a path, or its end
/// after a dot, in which * stands for any characters, as in a shell: add_lora(model, {"W_query",
/// "W_value"}). Returns how many layers there are. Weights that are no Linear's cannot
/// have LoRA: those of in_proj, q_proj, k_proj and v_proj of MultiheadAttention, whose out_proj
/// can. Error without a pattern, where one names none, a layer has LoRA already, the rank is below
/// 1, alpha is not finite or dropout not in [0, 1]; then nothing has changed.
std::int64_t add_lora(ModuleBase& module, const std::vector<std::string>& patterns,
                      const LoRAOptions& options = {});

/// The lora_A and lora_B of all layers, under their paths, to be saved alone. The rank is in their
/// shapes, alpha is not: keep it, too, for the add_lora before load_lora_state.
StateDict lora_state(const ModuleBase& module);
/// Copies such a state into a module that has the same LoRA. Names may also be those of PEFT's
/// adapter_model.safetensors, base_model.model.PATH.lora_A.weight, where PATH is one of the
/// module's own; r and lora_alpha of its adapter_config.json are rank and alpha for add_lora. An
/// Error lists the keys that are missing or unknown, or of another shape; then nothing has changed.
void load_lora_state(ModuleBase& module, const StateDict& state);

/// Adds what LoRA makes to each weight, and takes it away: the same results as before, but for
/// rounding, at the cost of the plain layers. A weight becomes a new tensor (one that another
/// module shares stays with that), and requires grad as it
/// did under LoRA: unless changed since, nothing does. module.requires_grad_(true) trains all
/// again.
void merge_lora(ModuleBase& module);
/// Takes LoRA away; the module computes what it did before it. As in merge_lora, the parameters
/// that add_lora froze stay so.
void remove_lora(ModuleBase& module);

}  // namespace tend::nn
