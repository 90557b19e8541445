// Hostile arguments for every public function that the headers declare.
#include <iostream>
#include <regex>
#include <set>

#include "tests/catch.h"
#include "tests/hostile/declarations.h"
#include "tests/hostile/functions.h"
#include "tests/hostile/options.h"
#include "tests/layout/sources.h"

using namespace tend;
using namespace tend::test;

namespace {

// The installed headers that declare what users call.
std::vector<std::string> public_headers() {
  const std::regex callable(
      "autograd/(ops|tools)/.*|autograd/tensor/(tensor|\\w+_methods)\\.h|autograd/graph/engine\\.h|"
      "core/array/array\\.h|nn/.*|attention/.*");
  std::vector<std::string> headers;
  for (const std::string& header : kInstalledHeaders) {
    // Calling hooks, and knowing what lives where, is the library's own code.
    const bool is_called =
        header != "nn/module/module_hooks.h" && header != "nn/module/live_object.h";
    if (is_called && std::regex_match(header, callable)) headers.push_back(header);
  }
  return headers;
}

// What is not called with hostile arguments, as it takes none, or is a part of what is called.
const std::regex kPassedOver(
    // Copies, and handles on what a tensor is made of.
    "(Tensor|Array|Indexed|nn::Parameter|nn::Field)::(Tensor|Array|Indexed|Parameter|Field)\\(.*|"
    "Tensor::(impl|end)\\(\\)|RowIterator::.*|Array::storage\\(\\)|"
    // What they give must be written before it is read, or has no memory.
    "Array::(empty|empty_like|layout)\\(.*|"
    // Arguments themselves.
    "NestedNumbers::.*|Dims::.*|Conv1dPadding::.*|OrReduction::.*|optim::PerGroup::.*|tensor\\("
    "const NestedNumbers&\\)|"
    // Written by the user, or called by what is called.
    "autograd::(FunctionContext|CustomFunction)::.*|autograd::function_name.*|"
    "TensorFunction::.*|autograd::backward\\(std::span.*|autograd::grad\\(const "
    "Output&.*|GradcheckReport::.*|.*::(extra_repr|named)"
    "\\(.*|"
    "Indexed::operator.*|"
    // The same as with a Shape.
    "(Tensor::)?tensor_split\\(.*initializer_list.*|"
    // Of modules and optimizers: no arguments, or a function of the user.
    "nn::Linear::(in|out)_features\\(\\)|"
    "nn::(Module|MultiheadAttention|Transformer[A-Za-z]*)::(operator\\(\\)|named_children)\\(.*|"
    "nn::ActivationFunction::ActivationFunction\\(F\\)|nn::audit\\(.*|nn::AuditReport::passed\\(\\)"
    // No arguments, or the name of a part that lives on.
    "|nn::(Profiler|Trainer|ProgressLine|InterruptGuard|EvaluationMode)::.*|data::Endless::.*|"
    "autograd::(Timeline|"
    "ProfiledPart|TimedDerivative)::.*"
    "|nn::RunState::(RunState|add|state_dict)\\(.*|nn::CheckpointFolder::(steps|last)\\(\\)"
    "|"
    // With places that only a GPT makes; numbers that it counts; the same for one prompt; no
    // arguments but a module.
    "attention::.*const TokenPlaces&\\)|attention::GPT::operator\\(\\).*|"
    "attention::(GPTConfig::.*|checked_block\\(.*|PositionEmbedding::is_added\\(\\))|"
    "attention::KVCache::(advance|bytes|first|go_back|layers|length|options|reserve|reset|truncate)"
    "\\(.*|"
    "attention::generate\\(const GPT&, (const TokenSequence&|std::initializer_list).*|"
    "nn::(merge_lora|remove_lora|lora_state)\\(.*|"
    "nn::ModuleBase::(named_.*|parameters|buffers|is_training|eval|"
    "state_dict|apply|zero_grad|register_.*_hook|register_module|get_submodule|type_name|repr|"
    "train|num_parameters|depth)\\(.*|"
    "nn::Dropout::active_p\\(\\)|nn::Sequential::(Sequential|push_back|size|begin|end|named_"
    "children|depth)"
    "\\(.*|"
    "optim::Optimizer::((zero_grad|group_count|state_dict)\\(\\)|((set_)?"
    "initial_)?"
    "lr\\(.*|"
    "momentum\\(.*|set_lr\\(double\\))|"
    "data::DataLoader::loads\\(\\)|"
    // The same through the base.
    "optim::GroupedOptimizer::(groups|zero_grad|group_count|lr|set_lr|(set_)?initial_lr|momentum|"
    "set_momentum|"
    "state_dict|load_state_dict)\\(.*|"
    // No arguments: each schedule that is made is stepped and loaded.
    "optim::AveragedModel::(n_averaged|state_dict)\\(\\)|"
    "optim::(LRScheduler|SequentialLR|ChainedScheduler|ReduceLROnPlateau)::(step|state_dict|"
    "get_last_lr|last_epoch|optimizer|best)\\(\\)|"
    // Of a model's own parameters.
    "optim::(decay_groups|DecayGroups::.*|detail::.*)\\(.*|"
    "attention::AttentionPathGuard::.*|"
    // They exist while a score or mask function is called: flex_attention_test.cpp draws those.
    "attention::(Expr|Lookup|ScoreFunction|MaskFunction)::.*|"
    "attention::(abs|clamp|clip|exp|isnan|log|logical_(and|not|or|xor)|max|maximum|min|minimum|"
    "remainder|tanh|where|(and|or)_masks|operator..?)\\(.*|"
    // For arrays whose shape and strides fit already, and of dtypes alone.
    "view_strides\\(.*|result_type\\(.*|"
    "nn::(half|bfloat)_to_float.*|"
    "nn::ModuleList::(ModuleList\\((std::int64_t, const "
    "M&|Modules\\.\\.\\.)?\\)|(emplace_back|push_back|at|size|begin|end|"
    "named_children)\\(.*)|"
    // Parts of a loop, and the same with a shared dataset or a generator; no arguments.
    "data::(detail::.*|DataLoader::Iterator::.*|SamplerOf::.*|DefaultCollate::.*|"
    "PadCollate::.*std::vector<std::.*|(TensorDataset|DataLoader)\\(.*|"
    "(TensorDataset|Subset|ConcatDataset)::(TensorDataset|Subset|ConcatDataset)\\(.*|"
    "DataLoader::DataLoader\\(std::shared_ptr.*|random_split\\(std::shared_ptr.*|"
    "\\w+::get\\(std::int64_t, Generator&\\)|"
    "\\w+::(size|iter|generator|indices|dataset|tensors|begin|end|state_dict)\\(\\))|"
    "nn::StateDict::(StateDict|begin|end|size|empty|find|contains|count|operator\\[\\]|insert|"
    "emplace|try_emplace|insert_or_assign|emplace_"
    "back|erase|"
    "clear)\\(.*|"
    "nn::AnyModule::(AnyModule|module|as|operator->)\\(.*|"
    "nn::ModuleDict::(ModuleDict|emplace|at|clear|clone|size|empty|keys|begin|end|named_children)"
    "\\(.*|"
    "nn::ParameterList::(ParameterList|emplace_back|at|push_back|clone|size|begin|end)\\(.*|"
    "nn::PtValue::(PtValue|as|is_none)\\(.*|"
    "(nn::)?operator<<\\(.*");

}  // namespace

TEST_CASE("every public function is called with hostile arguments", "[hostile]") {
  std::set<std::string> called, declared;
  for (const PublicFunction& each : public_functions()) called.insert(each.signature);
  for (const std::string& header : public_headers()) {
    for (const std::string& signature : declarations_of(header)) declared.insert(signature);
  }
  CHECK(declared.count("mean(const Tensor&, const Dims&, Flag, std::optional<DType>)") == 1);
  for (const std::string& signature : declared) {
    INFO(signature);
    CHECK(called.count(signature) + std::regex_match(signature, kPassedOver) == 1);
  }
  for (const std::string& signature : called) {
    INFO(signature);
    CHECK(declared.count(signature) + signature.starts_with("Indexed::operator=") == 1);
  }
}

TEST_CASE(
    "hostile arguments of every public function give an error that changes nothing, or a result",
    "[hostile]") {
  const HostileOptions options = hostile_options(100000);
  std::vector<const PublicFunction*> functions;
  for (const PublicFunction& each : public_functions()) {
    if (options.takes(each.signature.substr(0, each.signature.find('('))))
      functions.push_back(&each);
  }
  if (functions.empty()) return;
  const Report report = make_calls(options.range, [&](std::int64_t index, CallLog& log) {
    const PublicFunction& function = *functions[static_cast<std::size_t>(index) % functions.size()];
    Arguments arguments(options.seed, index);
    const DrawnCall call = function.draw(arguments);
    check_call(log, function.signature.substr(0, function.signature.find('(')), arguments,
               function.writes, call);
  });
  std::cout << "hostile functions: " << functions.size() << " functions, seed " << options.seed
            << ", " << report;
  CHECK(report.results > 0);
  CHECK(report.errors > 0);
  CHECK(report.failures.empty());
}
