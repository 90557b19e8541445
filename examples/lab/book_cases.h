// What the book prints (book_cases.json), and how our text differs from it.
#pragma once

#include <string>
#include <vector>

namespace book {

struct Case {
  int chapter, cell;
  std::string what;     ///< What is computed.
  std::string printed;  ///< What the book's notebook prints.
};

/// Throws: std::runtime_error  - the file cannot be read, or has no cases
std::vector<Case> read_cases(const std::string& path);

/// A number that differs from the published one, as both are printed.
struct DifferingNumber {
  std::string published, reached;
  std::string exact;  ///< In float64; empty if that was not computed.
  int digit;          ///< The first significant one that differs.
};

/// How a text differs from the published one.
struct Difference {
  std::string text;  ///< In words; empty for equal texts.
  bool is_equal;     ///< Blanks, which align numbers, do not count.
  std::vector<DifferingNumber> numbers;
};
/// `exact` is the same text computed in float64, or empty.
Difference compare(const std::string& published, const std::string& reached,
                   const std::string& exact);

/// What training prints, taken apart.
struct TrainingLog {
  std::vector<double> steps, training, validation;  ///< The losses of some steps.
  std::vector<std::string> sentences;               ///< One an epoch.
};
TrainingLog read_log(const std::string& printed);

/// From which step and epoch on two runs differ, in words.
std::string difference(const TrainingLog& published, const TrainingLog& reached);
/// The largest difference of two runs' losses.
double largest_difference(const TrainingLog& a, const TrainingLog& b);

}  // namespace book
