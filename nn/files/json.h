// JSON files as values. The JSON library's own values are not used: their destructors recurse as
// deep as a file nests, and allocate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tend/nn/files/file_name.h>

namespace tend::nn::json {

struct Value;
struct Member;
using List = std::vector<Value>;
using Object = std::vector<Member>;  // in the order of the file, each name once

/// One value; an integer that int64 cannot hold is a double.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Object> data;

  /// The value as a T; nullptr when it is of another type.
  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
  bool is_null() const noexcept { return as<std::monostate>() != nullptr; }
  /// The member `name` of an object; nullptr where there is none, and for what is no object.
  const Value* find(std::string_view name) const noexcept;
};

struct Member {
  std::string name;
  Value value;
};

/// Reads a text, the content of `file`. IoError for what is no JSON, for names used twice in one
/// object, and for lists and objects that nest deeper than 64.
Value parse(const FileName& file, std::string_view text);
/// The same with the file's own text.
Value read(const FileName& file);

/// `text`, which must be UTF-8, with quotes.
std::string quoted(std::string_view text);

/// `number` so that it is read back exactly; null where it is not finite.
std::string number_text(double number);

}  // namespace tend::nn::json
