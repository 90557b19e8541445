#include <tend/attention/pretrained/json_values.h>

#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/memory/scratch.h>

#include <nlohmann/json.hpp>

namespace tend::attention {

// Takes the events of the JSON library's parser, so that no tree is built.
class JsonValuesHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonValuesHandler(JsonValues& values) : values_(values) {}

  bool start_object(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override {
    if (levels_.empty()) refuse("the text is a list, no object");
    return open(true);
  }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    levels_.back().name = std::move(name);
    return true;
  }
  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (!std::in_range<std::int64_t>(value)) return put(static_cast<double>(value));
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { refuse("there is a binary value"); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    refuse("the text is no JSON: ", error.what());
  }

 private:
  struct Level {
    bool is_list;
    std::size_t next = 0;  // of a list
    std::string name = {};
  };

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(values_.operation_, parts...);
  }

  bool open(bool is_list) {
    constexpr std::size_t kMaxDepth = 64;
    if (levels_.size() == kMaxDepth) refuse("the text nests more than ", kMaxDepth, " deep");
    levels_.push_back({is_list});
    return true;
  }
  bool close() {
    levels_.pop_back();
    if (!levels_.empty()) ++levels_.back().next;
    return true;
  }
  bool put(JsonValues::Value value) {
    if (levels_.empty()) refuse("the text is no object");
    std::string path;
    for (const Level& level : levels_) {
      if (!path.empty()) path += '.';
      path += level.is_list ? std::to_string(level.next) : level.name;
    }
    if (!values_.values_.try_emplace(path, std::move(value)).second)
      refuse('\'', path, "' is there twice");
    ++levels_.back().next;
    return true;
  }

  JsonValues& values_;
  std::vector<Level> levels_;
};

JsonValues::JsonValues(const char* operation, std::string_view text) : operation_(operation) {
  with_memory([&] {
    JsonValuesHandler handler(*this);
    nlohmann::json::sax_parse(text, &handler);
  });
}

bool JsonValues::is_integer(const std::string& path) const {
  const auto found = values_.find(path);
  return found != values_.end() && std::holds_alternative<std::int64_t>(found->second);
}

template <class Kind>
std::optional<Kind> JsonValues::value(const std::string& path, const char* kind) const {
  const auto found = values_.find(path);
  if (found == values_.end() || std::holds_alternative<std::monostate>(found->second)) return {};
  if (const auto* value = std::get_if<Kind>(&found->second)) return *value;
  fail<IoError>(operation_, '\'', path, "' is no ", kind);
}

std::optional<std::int64_t> JsonValues::integer(const std::string& path) const {
  return value<std::int64_t>(path, "integer");
}

std::optional<double> JsonValues::number(const std::string& path) const {
  const auto found = values_.find(path);
  if (found != values_.end() && std::holds_alternative<std::int64_t>(found->second)) {
    return static_cast<double>(std::get<std::int64_t>(found->second));
  }
  return value<double>(path, "number");
}

std::optional<bool> JsonValues::truth(const std::string& path) const {
  return value<bool>(path, "truth value");
}

std::optional<std::string> JsonValues::text(const std::string& path) const {
  return value<std::string>(path, "text");
}

std::set<std::string> JsonValues::texts_under(const std::string& path) const {
  std::set<std::string> texts;
  const std::string prefix = path + '.';
  for (auto at = values_.lower_bound(prefix); at != values_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (const auto* text = std::get_if<std::string>(&at->second)) texts.insert(*text);
  }
  return texts;
}

std::int64_t JsonValues::required_integer(const std::string& path) const {
  const auto found = integer(path);
  if (!found) fail<IoError>(operation_, '\'', path, "' is missing");
  return *found;
}

}  // namespace tend::attention
