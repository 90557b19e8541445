// The values of a small JSON file, such as a config.json. Internal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace tend::attention {

/// What a JSON text says, under paths such as "rope_scaling.factor" and "eos_token_id.0".
class JsonValues {
 public:
  /// IoError, naming `operation`, for what is no JSON object, nests more than 64 deep, or names a
  /// value twice.
  JsonValues(const char* operation, std::string_view text);

  bool is_integer(const std::string& path) const;

  // Of the value at a path; nothing where there is none, or null. IoError for one of another kind.

  std::optional<std::int64_t> integer(const std::string& path) const;
  std::optional<double> number(const std::string& path) const;
  std::optional<bool> truth(const std::string& path) const;
  std::optional<std::string> text(const std::string& path) const;

  /// The texts whose paths begin with `path` and a dot.
  std::set<std::string> texts_under(const std::string& path) const;
  /// IoError where there is none.
  std::int64_t required_integer(const std::string& path) const;

 private:
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
  friend class JsonValuesHandler;

  template <class Kind>
  std::optional<Kind> value(const std::string& path, const char* kind) const;

  const char* operation_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace tend::attention
