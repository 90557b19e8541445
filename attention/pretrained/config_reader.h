// Reads the values of a config.json. Internal.
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

/// Reads an object of a file. Both must outlive the reader.
class ConfigReader {
 public:
  /// Throws: IoError - the value is not an object
  ConfigReader(const nn::FileName& file, const nn::json::Value& object);

  // These return the value of a name, or nullopt if the value is missing or null. They throw an
  // IoError if the value has another type.

  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<std::string> string(std::string_view name) const;
  std::optional<ConfigReader> object(std::string_view name) const;

  /// The integer of a name.
  ///
  /// Throws: IoError - the value is missing or has another type
  std::int64_t required_integer(std::string_view name) const;
  /// The text of "model_type".
  ///
  /// Throws: IoError - the text is not one of `types`
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

/// Reads the dropout `name`, or uses `otherwise` if it is missing. Returns nullopt if this dropout
/// equals `common`, the value of GPTConfig::dropout. Later changes of GPTConfig::dropout then also
/// change this dropout.
std::optional<double> own_dropout(const ConfigReader& config, const char* name, double otherwise,
                                  double common);
/// The kind of GELU that `activation` names.
///
/// Throws: IoError - the activation is not a known GELU
GeluKind gelu_kind(const ConfigReader& config, std::string_view activation);

}  // namespace tend::attention
