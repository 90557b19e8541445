#include <tend/nn/layers/lora.h>

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/layers/init.h>
#include <tend/nn/layers/linear.h>

namespace tend::nn {
namespace {

using NamedLinear = std::pair<std::string, Linear*>;

std::vector<NamedLinear> linears(ModuleBase& module) {
  std::vector<NamedLinear> found;
  for (const auto& [path, each] : module.named_modules()) {
    if (auto* linear = dynamic_cast<Linear*>(each)) found.emplace_back(path, linear);
  }
  return found;
}

std::vector<NamedLinear> linears_with_lora(ModuleBase& module) {
  std::vector<NamedLinear> found = linears(module);
  std::erase_if(found, [](const NamedLinear& each) { return !each.second->lora_A.defined(); });
  return found;
}

// True if the pattern matches the path, or the end of the path after a dot.
bool matches(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0 ||
         fnmatch(("*." + pattern).c_str(), path.c_str(), 0) == 0;
}

// The paths of the first few Linear layers of a module, for a message.
std::string some_names(ModuleBase& module) {
  constexpr std::size_t kShown = 8;
  std::string names;
  const std::vector<NamedLinear> all = linears(module);
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i)
    names += (i == 0 ? "" : ", ") + all[i].first;
  if (all.empty()) return "none";
  return all.size() > kShown ? names + ", ..." : names;
}

std::vector<NamedLinear> named_by(ModuleBase& module, const std::vector<std::string>& patterns) {
  std::vector<NamedLinear> chosen;
  std::vector<bool> is_used(patterns.size(), false);
  for (const NamedLinear& each : linears(module)) {
    bool is_named = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!matches(patterns[i], each.first)) continue;
      is_used[i] = is_named = true;
    }
    if (!is_named) continue;
    if (each.second->lora_A.defined()) fail("add_lora", '\'', each.first, "' has LoRA already");
    chosen.push_back(each);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!is_used[i])
      fail("add_lora", "'", patterns[i],
           "' does not name a Linear; the Linear layers are: ", some_names(module));
  }
  return chosen;
}

bool is_lora_name(std::string_view name) {
  return name.ends_with("lora_A") || name.ends_with("lora_B");
}

// Removes PEFT's prefix and suffix: base_model.model.NAME.weight becomes NAME. Other names do not
// change.
std::string without_peft(std::string_view name) {
  constexpr std::string_view kPeftPrefix = "base_model.model.", kPeftSuffix = ".weight";
  if (!name.starts_with(kPeftPrefix) || !name.ends_with(kPeftSuffix)) return std::string(name);
  return std::string(
      name.substr(kPeftPrefix.size(), name.size() - kPeftPrefix.size() - kPeftSuffix.size()));
}

void add_pair(Linear& linear, const LoRAOptions& options) {
  const DType dtype = linear.weight.dtype();
  linear.lora_A = Parameter(empty({options.rank, linear.in_features()}, dtype));
  linear.lora_B = Parameter(zeros({linear.out_features(), options.rank}, dtype));
  init::kaiming_uniform_(linear.lora_A, std::sqrt(5.0));
  linear.lora_scale = options.alpha / static_cast<double>(options.rank);
  linear.lora_dropout = options.dropout;
}

void remove_pair(Linear& linear) {
  linear.lora_A = Parameter();
  linear.lora_B = Parameter();
}

}  // namespace

std::int64_t add_lora(ModuleBase& module, const std::vector<std::string>& patterns,
                      const LoRAOptions& options) {
  if (patterns.empty()) fail("add_lora", "there is no pattern; {\"*\"} names every Linear");
  if (options.rank < 1) fail("add_lora", "rank must be at least 1, got ", options.rank);
  if (!std::isfinite(options.alpha)) fail("add_lora", "alpha must be finite, got ", options.alpha);
  check_dropout("add_lora", options.dropout);
  const std::vector<NamedLinear> layers = named_by(module, patterns);
  // The LoRA parameters of earlier calls are still trained.
  std::vector<Tensor> trained;
  for (const auto& [path, linear] : linears_with_lora(module)) {
    for (const Parameter& each : {linear->lora_A, linear->lora_B})
      if (each.requires_grad()) trained.push_back(each);
  }
  module.requires_grad_(false);
  for (Tensor& each : trained) each.requires_grad_();
  for (const auto& [path, linear] : layers) add_pair(*linear, options);
  return std::ssize(layers);
}

StateDict lora_state(const ModuleBase& module) {
  StateDict state;
  for (const auto& [name, tensor] : module.state_dict()) {
    if (is_lora_name(name)) state.emplace_back(name, tensor);
  }
  return state;
}

void load_lora_state(ModuleBase& module, const StateDict& state) {
  StateDict whole;  // the module's own tensors, with the LoRA tensors of `state`
  for (const auto& [name, tensor] : module.state_dict()) {
    if (!is_lora_name(name)) whole.emplace_back(name, tensor);
  }
  for (const auto& [name, tensor] : state) whole.emplace_back(without_peft(name), tensor);
  module.load_state_dict(whole);
}

void remove_lora(ModuleBase& module) {
  for (const auto& [path, linear] : linears_with_lora(module)) remove_pair(*linear);
}

void merge_lora(ModuleBase& module) {
  const NoGradGuard no_graph;
  for (const auto& [path, linear] : linears_with_lora(module)) {
    const Tensor change = matmul(linear->lora_B, linear->lora_A) * linear->lora_scale;
    linear->weight = Parameter(linear->weight + change, linear->weight.requires_grad());
    remove_pair(*linear);
  }
}

}  // namespace tend::nn
