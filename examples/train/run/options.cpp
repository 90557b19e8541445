#include "examples/train/run/options.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <stdexcept>
#include <type_traits>

#include "examples/train/page/format.h"

namespace train {

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names{"reverse", "copy",         "sort",
                                              "add",     "add-reversed", "recall"};
  return names;
}

namespace {

/// The default options, without max_steps.
Options own_options(std::string_view task) {
  Options s;  // the options for reverse
  s.task = task;
  if (task == "reverse") return s;
  if (task == "copy") {
    s.length = 20;
    s.steps = 200;
    return s;
  }
  s.warmup = 50;
  if (task == "sort") {
    s.heads = 2;
    s.steps = 1000;
    s.rate = 6e-3;
  } else if (task == "add") {
    s.length = 3;
    s.layers = 2;
    s.heads = 4;
    s.batch = 128;
    s.steps = 1000;
    s.warmup = 100;
    s.rate = 3e-3;
    s.init = std::nullopt;
  } else if (task == "add-reversed") {
    s.length = 3;
    s.layers = 2;
    s.heads = 4;
    s.batch = 128;
    s.steps = 900;
    s.warmup = 100;
    s.rate = 2e-3;
    s.init = std::nullopt;
  } else if (task == "recall") {
    s.length = 8;
    s.layers = 2;
    s.batch = 32;
    s.steps = 700;
    s.rate = 1.5e-3;
    s.init = std::nullopt;
    s.embedding_init = 0.5;
  } else if (task == "text") {
    s.length = 64;
    s.layers = 4;
    s.heads = 4;
    s.width = 128;
    s.batch = 16;
    s.steps = 500;
    s.rate = 3e-3;
    s.init = std::nullopt;
  } else {
    throw std::invalid_argument("unknown task \"" + std::string(task) + "\"");
  }
  return s;
}

}  // namespace

Options default_options(std::string_view task) {
  Options s = own_options(task);
  s.max_steps = task == "text" ? s.steps : 4 * s.steps;
  return s;
}

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, double>)
    return shortest(value);
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return value ? shortest(*value) : "fan";
  else
    return std::to_string(value);
}

/// Describes a range, as in "must be from 1 to 1024" or "must be above 0".
std::string words_of(const Range& range) {
  const std::string least = shortest(range.least);
  if (range.most < std::numeric_limits<double>::infinity()) {
    return "must be from " + least + (range.excludes_most ? " to below " : " to ") +
           fixed(range.most, 0);
  }
  return range.excludes_least ? "must be above " + least : "must be " + least + " or more";
}

bool is_within(const Range& range, double value) {
  return (value > range.least || (value == range.least && !range.excludes_least)) &&
         (value < range.most || (value == range.most && !range.excludes_most));
}
bool is_within(const Range& range, std::uint64_t value) {
  return is_within(range, static_cast<double>(value));
}
bool is_within(const Range& range, const std::optional<double>& value) {
  return !value || is_within(range, *value);
}

}  // namespace

void validate(const Options& s) {
  for_each_option(s, [](const OptionText& text, const auto& value, const Range& range) {
    const std::string option = text.option;
    require(is_within(range, value), option.substr(0, option.find(',')) + " " + words_of(range));
  });
  const std::string width = std::to_string(s.width), steps = std::to_string(s.steps);
  require(s.width % s.heads == 0,
          "--width " + width + " must be a multiple of --heads " + std::to_string(s.heads));
  const std::string shards = "--shards " + std::to_string(s.shards);
  require(s.shards == 0 || std::has_single_bit(s.shards), shards + " is not a power of two");
  require(s.shards == 0 || s.batch % s.shards == 0,
          "--batch " + std::to_string(s.batch) + " must be a multiple of " + shards);
  require(s.max_steps >= s.steps, "--max-steps must be from --steps " + steps + " to 1000000000");
  require(s.task != "text" || s.max_steps == s.steps,
          "--max-steps is for tasks with right answers, not for a text");
}

std::vector<std::pair<std::string, std::string>> describe(const Options& s) {
  std::vector<std::pair<std::string, std::string>> rows{{"task", s.task}};
  if (!s.text.empty()) rows.emplace_back("text", s.text);
  for_each_option(s, [&](const OptionText& text, const auto& value, const Range&) {
    std::string name = text.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    rows.emplace_back(name, text_of(value));
  });
  return rows;
}

std::string options_to_json(const Options& s) {
  nlohmann::ordered_json json{{"task", s.task}, {"text", s.text}};
  for_each_option(s, [&](const OptionText& text, const auto& value, const Range&) {
    if constexpr (requires { *value; }) {
      json[text.name] = value ? nlohmann::json(*value) : nlohmann::json();
    } else {
      json[text.name] = value;
    }
  });
  // A JSON string must be UTF-8, but a path may be any bytes.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Options options_from_json(const std::string& text) {
  try {
    const nlohmann::json fields = nlohmann::json::parse(text);
    Options options;
    fields.at("task").get_to(options.task);
    fields.at("text").get_to(options.text);
    for_each_option(options, [&](const OptionText& each, auto& value, const Range&) {
      const nlohmann::json& field = fields.at(each.name);
      if constexpr (requires { *value; }) {
        value = field.is_null() ? std::nullopt : std::optional(field.get<double>());
      } else {
        field.get_to(value);
      }
    });
    validate(options);
    return options;
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the settings cannot be used: ") + error.what());
  }
}

double rate_at(const Options& s, std::uint64_t step) {
  if (step < s.warmup) {
    return s.rate * static_cast<double>(step + 1) / static_cast<double>(s.warmup);
  }
  constexpr double kLowest = 0.02;
  const double span =
      static_cast<double>(std::max<std::uint64_t>(1, s.steps - std::min(s.steps, s.warmup)));
  const double progress = std::min(1.0, static_cast<double>(step - s.warmup) / span);
  return s.rate * (kLowest + (1.0 - kLowest) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
}

}  // namespace train
