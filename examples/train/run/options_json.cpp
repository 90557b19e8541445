#include "examples/train/run/options_json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace train {

namespace {

/// f(name, field) for every field, so that writing and reading cannot name different ones.
template <class S, class F>
void for_each_field(S& s, F&& f) {
  f("task", s.task);
  f("text", s.text);
  f("length", s.length);
  f("layers", s.layers);
  f("heads", s.heads);
  f("width", s.width);
  f("dropout", s.dropout);
  f("init", s.init);
  f("embedding_init", s.embedding_init);
  f("batch", s.batch);
  f("shards", s.shards);
  f("steps", s.steps);
  f("max_steps", s.max_steps);
  f("warmup", s.warmup);
  f("rate", s.rate);
  f("beta1", s.beta1);
  f("beta2", s.beta2);
  f("weight_decay", s.weight_decay);
  f("clip", s.clip);
  f("seed", s.seed);
}

template <class T>
nlohmann::json to_json(const T& value) {
  return value;
}

nlohmann::json to_json(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

// What the library would convert is refused: 1.5 or true would become a number of layers, and -1 a
// seed.

void from_json(const nlohmann::json& json, std::string& value) {
  if (!json.is_string()) throw std::invalid_argument("is no text");
  value = json.get<std::string>();
}

void from_json(const nlohmann::json& json, std::uint64_t& value) {
  if (!json.is_number_unsigned()) throw std::invalid_argument("is no whole number from 0 on");
  value = json.get<std::uint64_t>();
}

void from_json(const nlohmann::json& json, double& value) {
  if (!json.is_number()) throw std::invalid_argument("is no number");
  value = json.get<double>();
}

void from_json(const nlohmann::json& json, std::optional<double>& value) {
  value.reset();
  if (!json.is_null()) from_json(json, value.emplace());
}

template <class T>
void take_field(nlohmann::json& fields, const char* name, T& value) {
  const auto found = fields.find(name);
  if (found == fields.end()) throw std::invalid_argument(std::string(name) + " is missing");
  try {
    from_json(*found, value);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(name) + " " + error.what() + ": " + found->dump());
  }
  fields.erase(found);
}

// The parser would keep the last of two equal names.
nlohmann::json parse_unique(const std::string& text) {
  std::set<std::string> names;
  const auto callback = [&](int depth, nlohmann::json::parse_event_t event,
                            nlohmann::json& parsed) {
    const bool is_name = depth == 1 && event == nlohmann::json::parse_event_t::key;
    if (is_name && !names.insert(parsed.get<std::string>()).second) {
      throw std::invalid_argument(parsed.get<std::string>() + " is there twice");
    }
    return true;
  };
  return nlohmann::json::parse(text, callback);
}

}  // namespace

std::string options_to_json(const Options& options) {
  nlohmann::ordered_json json;
  for_each_field(options,
                 [&](const char* name, const auto& field) { json[name] = to_json(field); });
  // A path need not be UTF-8, but a JSON string must.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Options options_from_json(const std::string& json, bool has_most_steps) {
  try {
    nlohmann::json fields = parse_unique(json);
    if (!fields.is_object()) throw std::invalid_argument("they are no JSON object");
    if (!has_most_steps && !fields.contains("max_steps")) fields["max_steps"] = fields["steps"];
    Options options;
    for_each_field(options,
                   [&](const char* name, auto& field) { take_field(fields, name, field); });
    // A option of a later version may be one that decides what is computed.
    if (!fields.empty()) throw std::invalid_argument(fields.items().begin().key() + " is unknown");
    validate(options);
    return options;
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the settings cannot be used: ") + error.what());
  }
}

}  // namespace train
