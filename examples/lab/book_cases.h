// The outputs of the book (book_cases.json), and their differences from our outputs.
#pragma once

#include <string>
#include <vector>

namespace book {

struct Case {
  int chapter, cell;
  std::string what;     ///< A description of the output.
  std::string printed;  ///< The output of the book's notebook.
};

/// Reads the cases of a file.
///
/// Throws: std::runtime_error - the file cannot be read, or has no cases
std::vector<Case> read_cases(const std::string& path);

/// A published number and our number, as printed, if they differ.
struct DifferingNumber {
  std::string published, reached;
  std::string exact;  ///< The number in float64, or empty if that was not computed.
  int digit;          ///< The first significant digit that differs, from 1.
};

/// The differences between our text and the published text.
struct Difference {
  std::string text;  ///< A description of the differences. Empty for equal texts.
  bool is_equal;     ///< True also if only blanks differ: they align numbers.
  std::vector<DifferingNumber> numbers;
};
/// Compares our text with the published text. `exact` is the text computed in float64, or empty.
Difference compare(const std::string& published, const std::string& reached,
                   const std::string& exact);

/// The losses and sentences that the training prints.
struct TrainingLog {
  std::vector<double> steps, training, validation;  ///< Some steps, and their losses.
  std::vector<std::string> sentences;               ///< One per epoch.
};
TrainingLog read_log(const std::string& printed);

/// Describes from which step and epoch two runs differ.
std::string difference(const TrainingLog& published, const TrainingLog& reached);
/// The largest difference between the losses of two runs.
double largest_difference(const TrainingLog& a, const TrainingLog& b);

}  // namespace book
