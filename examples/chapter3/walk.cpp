#include "walk.h"

#include <charconv>
#include <cmath>
#include <ostream>

namespace chapter3 {
namespace {

using tend::Shape;
using tend::Tensor;

std::string python_list(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values)
    text += (text.size() > 1 ? ", " : "") + tend::python_repr(value);
  return text + "]";
}

std::string python_text(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return to_string(*tensor);
  if (const auto* shape = std::get_if<Shape>(&value)) return tend::size_text(*shape);
  if (const auto* number = std::get_if<double>(&value)) return tend::python_repr(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return python_list(std::get<std::vector<double>>(value));
}

std::string json_number(double value, int digits) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  char text[32];
  return {text,
          std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}

template <class Items, class ItemText>
std::string json_list(const Items& items, ItemText item_text) {
  std::string text = "[";
  for (const auto& item : items) text += (text.size() > 1 ? ", " : "") + item_text(item);
  return text + "]";
}

std::string json_tensor(const Tensor& tensor) {
  if (tensor.dim() > 0) return json_list(tensor, json_tensor);
  if (tensor.dtype() == tend::int64) return std::to_string(tensor.item<std::int64_t>());
  return json_number(tensor.item(), tensor.dtype() == tend::float64 ? 17 : 9);
}

std::string json_value(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return json_tensor(tensor->detach());
  if (const auto* shape = std::get_if<Shape>(&value)) {
    return json_list(*shape, [](std::int64_t size) { return std::to_string(size); });
  }
  if (const auto* number = std::get_if<double>(&value)) return json_number(*number, 17);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return json_list(std::get<std::vector<double>>(value),
                   [](double each) { return json_number(each, 17); });
}

}  // namespace

void Walk::section(const std::string& title) {
  *out_ << "\n=== " << title << " ===\n\n";
}

void Walk::show(const std::string& id, const std::string& what, const Value& value) {
  steps_.push_back({id, value, python_text(value)});
  *out_ << "# " << what << "  [" << id << "]\n" << steps_.back().text << "\n\n";
}

std::string to_json(const std::vector<Step>& steps) {
  std::string text = "{";
  for (const Step& step : steps) {
    text += (text.size() > 1 ? ",\n  \"" : "\n  \"") + step.id + "\": " + json_value(step.value);
  }
  return text + "\n}";
}

}  // namespace chapter3
