#include <tend/attention/pretrained/config_reader.h>

#include <algorithm>

namespace tend::attention {

std::string checked_type(const char* model, const JsonValues& json,
                         std::initializer_list<std::string_view> types) {
  std::string type = json.text("model_type").value_or("");
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    refuse_config(model, "the model_type is '", type, '\'');
  }
  return type;
}

GeluKind gelu_kind(const char* model, std::string_view activation) {
  if (activation == "gelu") return GeluKind::exact;
  if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") return GeluKind::tanh;
  refuse_config(model, "the activation '", activation, "' is not supported");
}

}  // namespace tend::attention
