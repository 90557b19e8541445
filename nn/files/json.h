// JSON files and texts, read by the library nlohmann-json within limits.
#pragma once

#include <string>
#include <string_view>

#include <tend/nn/files/file_name.h>

#include <nlohmann/json_fwd.hpp>

namespace tend::nn::json {

/// A value, whose type and content value.get_ptr<const T*>() gives. Objects are sorted by name.
using Value = nlohmann::json;

/// Reads a text, the content of `file` or the part of it that `what` names. An integer that int64
/// cannot hold becomes a double. Memory is in proportion to the text.
/// Throws: IoError  - the text is not JSON
///                  - an object uses a name twice
///                  - lists and objects nest deeper than 64
Value parse(const FileName& file, std::string_view text, std::string_view what = "");
/// The same with the file's own text.
Value read(const FileName& file);

/// The member `name` of an object; nullptr if there is none, or if the value is not an object.
const Value* find(const Value& object, std::string_view name);

/// Whether the text is UTF-8.
bool is_utf8(const std::string& text);

/// `text`, which must be UTF-8, with quotes.
std::string quoted(std::string_view text);

/// `number` so that it is read back exactly; null if it is not finite.
std::string number_text(double number);

}  // namespace tend::nn::json
