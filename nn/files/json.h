// Reads JSON files and texts with the library nlohmann-json, within limits.
#pragma once

#include <string>
#include <string_view>

#include <tend/nn/files/file_name.h>

#include <nlohmann/json_fwd.hpp>

namespace tend::nn::json {

/// A JSON value. value.get_ptr<const T*>() is null unless the value has the type T. The members of
/// objects are sorted by name.
using Value = nlohmann::json;

/// Parses `text`, which is the content of `file` or a part of the file. `what` names the part in
/// errors.
///
/// An integer that int64 cannot hold becomes a double. The memory is in proportion to the text.
///
/// Throws:
///   IoError - the text is not JSON
///   IoError - an object uses a name twice
///   IoError - lists and objects nest deeper than 64
Value parse(const FileName& file, std::string_view text, std::string_view what = "");
/// Parses the text of the file. Throws the errors of parse() and read_text().
Value read(const FileName& file);

/// The member `name` of an object; nullptr if there is none, or if the value is not an object.
const Value* find(const Value& object, std::string_view name);

/// True if the text is UTF-8.
bool is_utf8(const std::string& text);

/// The text as a JSON string, in quotes. It must be UTF-8.
std::string quoted(std::string_view text);

/// The number as JSON, with all digits that are needed to read the same number; "null" if it is not
/// finite.
std::string number_text(double number);

}  // namespace tend::nn::json
