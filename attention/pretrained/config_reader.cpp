#include <tend/attention/pretrained/config_reader.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tend::attention {

ConfigReader::ConfigReader(const nn::FileName& file, const nn::json::Value& object)
    : file_(file), object_(object) {
  if (!object.is_object()) refuse("it is not a JSON object");
}

template <class Kind>
std::optional<Kind> ConfigReader::value(std::string_view name, const char* kind) const {
  const nn::json::Value* found = find(name);
  if (found == nullptr || found->is_null()) return {};
  if (const Kind* is_kind = found->get_ptr<const Kind*>()) return *is_kind;
  refuse("'", name, "' is not ", kind);
}

std::optional<std::int64_t> ConfigReader::integer(std::string_view name) const {
  return value<std::int64_t>(name, "an integer");
}

std::optional<double> ConfigReader::number(std::string_view name) const {
  const nn::json::Value* found = find(name);
  if (found != nullptr && found->is_number_integer()) return found->get<double>();
  return value<double>(name, "a number");
}

std::optional<bool> ConfigReader::boolean(std::string_view name) const {
  return value<bool>(name, "a boolean");
}

std::optional<std::string> ConfigReader::string(std::string_view name) const {
  return value<std::string>(name, "a string");
}

std::optional<ConfigReader> ConfigReader::object(std::string_view name) const {
  const nn::json::Value* found = find(name);
  if (found == nullptr || found->is_null()) return {};
  if (!found->is_object()) refuse("'", name, "' is not an object");
  return ConfigReader(file_, *found);
}

std::int64_t ConfigReader::required_integer(std::string_view name) const {
  const auto found = integer(name);
  if (!found) refuse("'", name, "' is missing");
  return *found;
}

std::string ConfigReader::type_among(std::initializer_list<std::string_view> types) const {
  std::string type = string("model_type").value_or("");
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    std::string known;
    for (const std::string_view each : types) known += as_text(known.empty() ? "" : ", ", each);
    refuse("the model_type is '", nn::shown(type), "', which is not one of ", known);
  }
  return type;
}

std::optional<double> own_dropout(const ConfigReader& config, const char* name, double otherwise,
                                  double common) {
  const double p = config.number(name).value_or(otherwise);
  return p == common ? std::nullopt : std::optional(p);
}

GeluKind gelu_kind(const ConfigReader& config, std::string_view activation) {
  if (activation == "gelu") return GeluKind::exact;
  if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") return GeluKind::tanh;
  config.refuse("the activation '", activation, "' is not supported");
}

}  // namespace tend::attention
