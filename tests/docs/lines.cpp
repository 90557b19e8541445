// docs_lines JSON: compares the results of the lines in docs/pytorch.md with PyTorch's results.
#include "tests/docs/lines.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tend::test;

namespace {

Items items_in(const nlohmann::json& list) {
  Items items;
  for (const auto& each : list) {
    Item& item = items.emplace_back();
    if (each.contains("dtype")) {
      item.kind = each["dtype"];
      item.shape = each["shape"].get<std::vector<std::int64_t>>();
      item.requires_grad = each["requires_grad"];
      std::istringstream numbers(each["values"].get<std::string>());
      for (std::string number; numbers >> number;) item.values.push_back(std::stod(number));
    } else if (each.contains("number")) {
      item.kind = "number";
      item.values.push_back(std::stod(each["number"].get<std::string>()));
    } else if (each.contains("text")) {
      item.kind = "text";
      item.text = each["text"];
    } else {
      item.kind = "undefined";
    }
  }
  return items;
}

// float32 has 24 bits, so a few roundings change a number by about 1e-6 of its size, or by 1e-6 if
// it was computed from numbers around 1. float64 results have the same tolerance, because they are
// computed from float32 inputs.
bool is_near(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 2e-6 * std::fmax(1, std::abs(b));
}

bool is_same(const Item& a, const Item& b) {
  if (a.kind != b.kind || a.shape != b.shape || a.requires_grad != b.requires_grad) return false;
  if (a.text != b.text || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (!is_near(a.values[i], b.values[i])) return false;
  }
  return true;
}

bool is_same(const Items& a, const Items& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_same(a[i], b[i])) return false;
  }
  return true;
}

std::string shown(const Items& items) {
  std::ostringstream out;
  for (const Item& item : items) {
    out << "\n    " << item.kind << (item.requires_grad ? " with grad " : " ") << item.text << '(';
    for (const std::int64_t size : item.shape) out << size << ' ';
    out << "):";
    for (const double value : item.values) out << ' ' << value;
  }
  return out.str();
}

// Describes what is wrong with a line. Returns an empty string if nothing is wrong.
std::string fault_of(const ComparedLine& line, const nlohmann::json& expected) {
  Items found;
  std::string error;
  try {
    found = line.run();
  } catch (const std::exception& caught) {
    error = caught.what();
  }
  const bool torch_fails = expected.contains("error");
  if (!error.empty() && torch_fails) return line.differs ? "both throw an error" : error;
  const bool same = error.empty() && !torch_fails && is_same(found, items_in(expected["items"]));
  if (same) return line.differs ? "the result equals PyTorch's, but the page says it differs" : "";
  if (line.differs) return "";
  if (!error.empty()) return error;
  return "tend's result is" + shown(found) + "\n  and PyTorch's is" +
         (torch_fails ? " an error" : shown(items_in(expected["items"])));
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) {
    std::cerr << "usage: docs_lines pytorch.json\n";
    return 2;
  }
  const auto expected = nlohmann::json::parse(file).at("lines");
  std::size_t faults = 0, differences = 0;
  const std::vector<ComparedLine> lines = compared_lines();
  for (const ComparedLine& line : lines) {
    differences += line.differs ? 1 : 0;
    const std::string fault = fault_of(line, expected.at(line.python));
    if (fault.empty()) continue;
    ++faults;
    std::cerr << "docs/pytorch.md:" << line.number << ": " << line.cpp << "\n  " << fault << '\n';
  }
  std::cout << lines.size() << " lines compared, " << differences
            << " of them differ as they should, " << faults << " faults\n";
  return faults == 0 && lines.size() > 400 ? 0 : 1;
}
