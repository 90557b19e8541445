#include "tests/hostile/typed_calls.h"

#include <regex>

namespace tend::test {

const std::vector<PublicFunction>& public_functions() {
  static const std::vector<PublicFunction> functions = [] {
    std::vector<PublicFunction> all;
    for (const auto& family :
         {operation_functions, method_functions, in_place_functions, array_functions,
          value_functions, autograd_functions, module_functions, file_functions, layer_functions,
          transformer_functions, model_functions, data_functions, schedule_functions,
          optimizer_functions}) {
      for (PublicFunction& each : family()) all.push_back(std::move(each));
    }
#ifdef TEND_HAS_TEXT
    for (PublicFunction& each : text_functions()) all.push_back(std::move(each));
#endif
#ifdef TEND_HAS_ARCHIVES
    for (PublicFunction& each : archive_functions()) all.push_back(std::move(each));
#endif
    for (PublicFunction& each : all) {
      const std::string& signature = each.signature;
      const std::string name = signature.substr(0, signature.find('('));
      static const std::regex writers(
          ".*_|.*operator[-+*/%&|^]=|Array::(fill|copy_from)|Tensor::(set_data|set_grad|zero_grad|"
          "retain_grad)");
      if (std::regex_match(name, writers)) each.writes.tensors.push_back(0);
      if (name == "batch_norm") each.writes.tensors = {1, 2};
      if (name == "Tensor::backward") each.writes.anything = true;
    }
    return all;
  }();
  return functions;
}

}  // namespace tend::test
