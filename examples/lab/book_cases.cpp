#include "examples/lab/book_cases.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "examples/lab/lab.h"

#include <nlohmann/json.hpp>

namespace book {

namespace {

const std::regex& number_pattern() {
  static const std::regex pattern(R"(-?\d+(\.\d+)?(e[-+]\d+)?)");
  return pattern;
}

std::vector<std::string> numbers_of(const std::string& text) {
  return {std::sregex_token_iterator(text.begin(), text.end(), number_pattern()), {}};
}

/// The text without blanks, and with # for each number.
std::string frame_of(const std::string& text) {
  std::string frame = std::regex_replace(text, number_pattern(), "#");
  std::erase_if(frame, [](char c) { return c == ' ' || c == '\n'; });
  return frame;
}

int differing_digit(const std::string& a, const std::string& b) {
  const auto exponent = [](const std::string& text) {
    return text.substr(std::min(text.find('e'), text.size()));
  };
  if (a.find('.') != b.find('.') || exponent(a) != exponent(b)) return 1;
  int equal = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    equal += std::isdigit(a[i]) != 0 && (equal > 0 || a[i] != '0');
  return equal + 1;
}

Difference compare_numbers(const std::string& published, const std::string& reached,
                           const std::string& exact) {
  const auto a = numbers_of(published), b = numbers_of(reached), c = numbers_of(exact);
  Difference difference{"equal except for blanks", true, {}};
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    difference.numbers.push_back(
        {a[i], b[i], c.size() == a.size() ? c[i] : "", differing_digit(a[i], b[i])});
  }
  if (difference.numbers.empty()) return difference;
  const auto& worst =
      *std::min_element(difference.numbers.begin(), difference.numbers.end(),
                        [](const auto& x, const auto& y) { return x.digit < y.digit; });
  difference.is_equal = false;
  difference.text = std::to_string(difference.numbers.size()) + " of " + std::to_string(a.size()) +
                    " numbers differ, from digit " + std::to_string(worst.digit) + ": " +
                    worst.reached + " instead of " + worst.published;
  if (!worst.exact.empty() && worst.exact != worst.reached)
    difference.text += ", in float64 " + worst.exact;
  return difference;
}

/// The index of the first element that differs.
template <class T>
std::size_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  const auto place = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<std::size_t>(place - a.begin());
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.contains("cases")) throw std::runtime_error(path + " is not a file of cases");
  std::vector<Case> cases;
  for (const auto& each : json.at("cases"))
    cases.push_back({each.at("chapter"), each.at("cell"), each.at("what"), each.at("printed")});
  return cases;
}

Difference compare(const std::string& published, const std::string& reached,
                   const std::string& exact) {
  if (published == reached) return {"", true, {}};
  if (frame_of(published) == frame_of(reached)) {
    static const std::regex name(", dtype=torch.float64");
    return compare_numbers(published, reached, std::regex_replace(exact, name, ""));
  }
  const auto place = static_cast<std::size_t>(
      std::mismatch(published.begin(), published.end(), reached.begin(), reached.end()).first -
      published.begin());
  return {"differs from character " + std::to_string(place + 1) + ": " + reached.substr(place, 30) +
              " instead of " + published.substr(place, 30),
          false,
          {}};
}

TrainingLog read_log(const std::string& printed) {
  static const std::regex losses(
      R"(Ep \d+ \(Step (\d+)\): Train loss ([\d.]+), Val loss ([\d.]+))");
  TrainingLog log;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, losses)) {
      log.steps.push_back(std::stod(match[1]));
      log.training.push_back(std::stod(match[2]));
      log.validation.push_back(std::stod(match[3]));
    } else {
      log.sentences.push_back(line);
    }
  }
  return log;
}

double largest_difference(const TrainingLog& a, const TrainingLog& b) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i) {
    largest = std::max({largest, std::abs(a.training[i] - b.training[i]),
                        std::abs(a.validation[i] - b.validation[i])});
  }
  return largest;
}

std::string difference(const TrainingLog& published, const TrainingLog& reached) {
  const std::size_t loss = std::min(first_difference(published.training, reached.training),
                                    first_difference(published.validation, reached.validation));
  const std::size_t sentence = first_difference(published.sentences, reached.sentences);
  std::string text = "losses equal";
  if (loss < published.steps.size()) {
    text = "losses differ from step " + lab::number(published.steps[loss], 0) + ", by at most " +
           lab::number(largest_difference(published, reached), 3);
  }
  return text + (sentence < published.sentences.size()
                     ? "; sentences differ from epoch " + std::to_string(sentence + 1)
                     : "; sentences equal");
}

}  // namespace book
