#include "settings_json.h"

#include <nlohmann/json.hpp>
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
  f("steps", s.steps);
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

template <class T>
void from_json(const nlohmann::json& json, T& value) {
  value = json.get<T>();
}

void from_json(const nlohmann::json& json, std::optional<double>& value) {
  value = json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

std::string settings_to_json(const Settings& settings) {
  nlohmann::ordered_json json;
  for_each_field(settings,
                 [&](const char* name, const auto& field) { json[name] = to_json(field); });
  // A path need not be UTF-8, but a JSON string must.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Settings settings_from_json(const std::string& json) {
  try {
    const auto fields = nlohmann::json::parse(json);
    Settings settings;
    for_each_field(settings,
                   [&](const char* name, auto& field) { from_json(fields.at(name), field); });
    validate(settings);
    return settings;
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the settings cannot be used: ") + error.what());
  }
}

}  // namespace train
