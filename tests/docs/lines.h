// The results of lines in docs/pytorch.md, in a form that can be compared with PyTorch's results.
#pragma once

#include <array>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <tend/tend.h>

namespace tend::test {

/// A tensor, a number or a text, as tests/data/make_pytorch.py writes it.
struct Item {
  std::string kind;  // a dtype, "number", "text" or "undefined"
  std::vector<std::int64_t> shape = {};
  bool requires_grad = false;
  std::vector<double> values = {};
  std::string text = {};
};
using Items = std::vector<Item>;

inline void add(Items& items, const Tensor& tensor) {
  if (!tensor.defined()) {
    items.push_back({"undefined"});
    return;
  }
  items.push_back({as_text(tensor.dtype()),
                   {tensor.shape().begin(), tensor.shape().end()},
                   tensor.requires_grad(),
                   tensor.detach().to(float64).to_vector<double>()});
}
template <class T>
requires std::is_arithmetic_v<T>
void add(Items& items, T number) {
  items.push_back({"number", {}, false, {static_cast<double>(number)}});
}
inline void add(Items& items, const std::string& text) {
  items.push_back({.kind = "text", .text = text});
}
inline void add(Items& items, const char* text) {
  add(items, std::string(text));
}
inline void add(Items& items, DType dtype) {
  add(items, as_text(dtype));
}
inline void add(Items& items, const Shape& shape) {
  for (const std::int64_t size : shape) add(items, size);
}
inline void add(Items& items, nn::ModuleBase& module) {
  for (const Tensor& parameter : module.parameters()) add(items, parameter);
}
inline void add(Items& items, const nn::ModuleBase& module) {
  for (const Tensor& parameter : module.parameters()) add(items, parameter);
}
template <class T>
void add(Items& items, const std::vector<T>& list) {
  for (const T& each : list) add(items, each);
}
inline void add(Items& items, const std::pair<Tensor, Tensor>& both) {
  add(items, both.first);
  add(items, both.second);
}
inline void add(Items& items, const ValuesAndIndices& both) {
  add(items, both.values);
  add(items, both.indices);
}
inline void add(Items& items, const Extremes& both) {
  add(items, both.min);
  add(items, both.max);
}
inline void add(Items& items, const UniqueElements& elements) {
  add(items, elements.values);
}

template <class... Results>
Items items_of(const Results&... results) {
  Items items;
  (add(items, results), ...);
  return items;
}

/// A line of the page, and the function that runs it.
struct ComparedLine {
  int number;
  const char* python;
  const char* cpp;
  bool differs;  // the page says that the results differ from PyTorch's
  Items (*run)();
};

/// Runs Lines::line with new tensors and seed 0.
template <class Lines, Items (Lines::*line)()>
Items run() {
  Lines lines;
  manual_seed(0);
  return (lines.*line)();
}

/// All lines of the page. The definition is in the source that generate.cpp makes.
std::vector<ComparedLine> compared_lines();

}  // namespace tend::test
