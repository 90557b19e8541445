// What a config.json says. Internal.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <tend/autograd/ops/activation.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>

namespace tend::attention {

/// An object of a file. Both must outlive it.
class ConfigReader {
 public:
  /// IoError for what is no object.
  ConfigReader(const nn::FileName& file, const nn::json::Value& object);

  // The value of a name; nothing where there is none, or null. IoError for one of another kind.

  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<std::string> string(std::string_view name) const;
  std::optional<ConfigReader> object(std::string_view name) const;

  /// IoError where there is none.
  std::int64_t required_integer(std::string_view name) const;
  /// The text of "model_type"; IoError unless it is one of `types`.
  std::string type_among(std::initializer_list<std::string_view> types) const;

  const nn::json::Value& members() const { return object_; }
  const nn::json::Value* find(std::string_view name) const { return nn::json::find(object_, name); }
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(parts...);
  }

 private:
  template <class Kind>
  std::optional<Kind> value(std::string_view name, const char* kind) const;

  const nn::FileName& file_;
  const nn::json::Value& object_;
};

/// The dropout of that name, `otherwise` where there is none; nullopt if it equals `common`,
/// GPTConfig::dropout, so that it follows later changes of that.
std::optional<double> own_dropout(const ConfigReader& config, const char* name, double otherwise,
                                  double common);
/// The GELU of that name; IoError for other activations.
GeluKind gelu_kind(const ConfigReader& config, std::string_view activation);

}  // namespace tend::attention
